// SPDX-License-Identifier: Apache-2.0
// tensor_forms.cu - a copy of tensors or blocks in each form that PTX has, one a kernel, to compare their operands with what
// the disassembler says.
#include <cuda.h>
#include <stdint.h>
#define K(name, ...) extern "C" __global__ void name(const __grid_constant__ CUtensorMap m, uint32_t s, uint32_t b, int c0, int c1, int c2, int c3, int c4, uint64_t hint, uint16_t mask, uint16_t o0, uint16_t o1) { __VA_ARGS__ }
#define L(dims, list, ...) asm volatile("cp.async.bulk.tensor." dims ".shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {" list "}], [%2];" ::"r"(s),"l"(&m),"r"(b), __VA_ARGS__: "memory");
K(l1, L("1d","%3","r"(c0)))
K(l2, L("2d","%3,%4","r"(c0),"r"(c1)))
K(l3, L("3d","%3,%4,%5","r"(c0),"r"(c1),"r"(c2)))
K(l4, L("4d","%3,%4,%5,%6","r"(c0),"r"(c1),"r"(c2),"r"(c3)))
K(l5, L("5d","%3,%4,%5,%6,%7","r"(c0),"r"(c1),"r"(c2),"r"(c3),"r"(c4)))
K(l2h, asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%3,%4}], [%2], %5;" ::"r"(s),"l"(&m),"r"(b),"r"(c0),"r"(c1),"l"(hint): "memory");)
K(l2m, asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3,%4}], [%2], %5;" ::"r"(s),"l"(&m),"r"(b),"r"(c0),"r"(c1),"h"(mask): "memory");)
K(l2mh, asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%0], [%1, {%3,%4}], [%2], %5, %6;" ::"r"(s),"l"(&m),"r"(b),"r"(c0),"r"(c1),"h"(mask),"l"(hint): "memory");)
K(l4i, asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3,%4,%5,%6}], [%2], {%7,%8};" ::"r"(s),"l"(&m),"r"(b),"r"(c0),"r"(c1),"r"(c2),"r"(c3),"h"(o0),"h"(o1): "memory");)
#define S(dims, list, ...) asm volatile("cp.async.bulk.tensor." dims ".global.shared::cta.bulk_group [%0, {" list "}], [%1];" ::"l"(&m),"r"(s), __VA_ARGS__: "memory");
K(s1, S("1d","%2","r"(c0)))
K(s3, S("3d","%2,%3,%4","r"(c0),"r"(c1),"r"(c2)))
K(s5, S("5d","%2,%3,%4,%5,%6","r"(c0),"r"(c1),"r"(c2),"r"(c3),"r"(c4)))
K(s2h, asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint [%0, {%2,%3}], [%1], %4;" ::"l"(&m),"r"(s),"r"(c0),"r"(c1),"l"(hint): "memory");)
K(r3, asm volatile("cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group [%0, {%2,%3,%4}], [%1];" ::"l"(&m),"r"(s),"r"(c0),"r"(c1),"r"(c2): "memory");)
K(p2, asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1,%2}];" ::"l"(&m),"r"(c0),"r"(c1): "memory");)
K(p5, asm volatile("cp.async.bulk.prefetch.tensor.5d.L2.global.tile [%0, {%1,%2,%3,%4,%5}];" ::"l"(&m),"r"(c0),"r"(c1),"r"(c2),"r"(c3),"r"(c4): "memory");)
K(pm, asm volatile("prefetch.tensormap [%0];" ::"l"(&m): "memory");)
K(pb, asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(hint),"r"(c0*16): "memory");)
K(rb, asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(hint),"r"(s),"r"(c0*16): "memory");)
K(sh, asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(s),"r"(c0),"r"(c1),"r"(b): "memory");)
