// SPDX-License-Identifier: Apache-2.0
// collects.go - for e2e.record.go_collects.sh: goroutines that allocate by known call chains, with so little memory between two
// collections that Go's runtime is at work for them on the threads' own stacks most of the time. It says when it is at work, and
// ends by itself when SIGUSR1 comes.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

type node struct {
	left, right *node
	data        [8]int
}

//go:noinline
func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{left: tree(depth - 1), right: tree(depth - 1)}
}

//go:noinline
func plantMid() *node { return tree(6) }

//go:noinline
func plantTop() {
	var keep [16]*node
	for i := 0; ; i++ {
		keep[i%16] = plantMid()
	}
}

//go:noinline
func nameMid(names map[string][]byte, i int) {
	names[fmt.Sprint(i%500)] = make([]byte, 100+i%1000)
}

//go:noinline
func nameTop() {
	names := map[string][]byte{}
	for i := 0; ; i++ {
		nameMid(names, i)
	}
}

// A new goroutine's stack is small: it has to grow.
//
//go:noinline
func growDeep(n int) int {
	var pad [64]byte
	pad[n%64] = byte(n)
	if n == 0 {
		sum := 0
		for i := 0; i < 100; i++ {
			list := make([]*node, 32)
			for j := range list {
				list[j] = &node{}
			}
			sum += len(list)
		}
		return sum
	}
	return growDeep(n-1) + int(pad[(n+1)%64])
}

//go:noinline
func growTop(done chan int) { done <- growDeep(40) }

func main() {
	debug.SetGCPercent(5)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGUSR1)
	go plantTop()
	go nameTop()
	go func() {
		done := make(chan int)
		for {
			go growTop(done)
			<-done
		}
	}()
	fmt.Println("at work")
	<-stop
	os.Exit(7)
}
