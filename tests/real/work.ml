(* SPDX-License-Identifier: Apache-2.0 *)
(* Recursion, hashes, lists and exceptions; allocation calls C. *)
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)

let () =
  let counts = Hashtbl.create 10 and caught = ref 0 in
  for i = 1 to 500000 do Hashtbl.replace counts (i mod 997) (string_of_int i) done;
  let sorted = List.sort compare (List.init 300000 (fun i -> i * 7919 mod 100003)) in
  for i = 1 to 1000000 do
    try if i mod 3 = 0 then raise Not_found with Not_found -> incr caught
  done;
  Printf.printf "%d %d %d %d\n" (fib 40) (Hashtbl.length counts) (List.nth sorted 3) !caught
