// SPDX-License-Identifier: Apache-2.0
// calls.go - for e2e.record.go.sh: goroutines on several threads, each in Go's own code, in C, and in Go that C has called.
package main

/*
#cgo LDFLAGS: -lm
#include <math.h>
static double work(long n) { volatile double s = 0; for (long i = 0; i < n; i++) s += sqrt(i); return s; }
extern void goBack(long);
static void back(long n) { goBack(n); }
*/
import "C"
import "fmt"

//export goBack
func goBack(n C.long) { spin(int(n)) }

var sink float64

//go:noinline
func spin(n int) {
	for i := 0; i < n; i++ {
		sink += float64(i) * 0.5
	}
}

func main() {
	done := make(chan bool)
	for t := 0; t < 3; t++ {
		go func() {
			for i := 0; i < 5; i++ {
				C.work(20000000)
				spin(40000000)
				C.back(20000000)
			}
			done <- true
		}()
	}
	for t := 0; t < 3; t++ {
		<-done
	}
	fmt.Println("done")
}
