#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the program sees: stdin, descriptors, signals, limits and the environment are its own.
. "$(dirname -- "$0")/expect.sh"
probe='ls -l /proc/self/fd | wc -l; ulimit -a; umask; pwd; cat; ps -o ppid= -p $$ >/dev/null; echo "$0 $*"'
printf 'first\nsecond' >in
sh -c "$probe" name one 'two words' '' <in >bare 2>bare.err
record probe -- sh -c "$probe" name one 'two words' '' <in >measured 2>measured.err
same_file "stdout of a program that prints its surroundings" bare measured
same_file "stderr" bare.err measured.err
grep -E '^Sig(Blk|Ign|Cgt)|^Threads|^CoreDumping' /proc/self/status >bare
record status -- grep -E '^Sig(Blk|Ign|Cgt)|^Threads|^CoreDumping' /proc/self/status >measured
same_file "signal masks, threads" <(grep -v SigCgt bare) <(grep -v SigCgt measured)

env -i PATH="$PATH" FOO='a b' sh -c env | sort >bare
env -i PATH="$PATH" FOO='a b' hpct-record -o env.hpct -- sh -c env | sort >measured
check "the environment differs by more than LD_PRELOAD, HPCT_* and where GPU runtimes look for tools: $(diff bare measured | grep '^[<>]')" \
	[ -z "$(diff bare measured | grep '^[<>]' | grep -vE '^> (LD_PRELOAD|HPCT_[A-Z]*|OPENCL_LAYERS|(CUDA|NVTX)_INJECTION64_PATH|NCCL_PROFILER_PLUGIN)=')" ]

code "closed stdin, stdout and stderr" 0 sh -c 'hpct-record -o closed.hpct -- true <&- >&- 2>&-'
code "the program's descriptor 3 passes through" 0 sh -c 'hpct-record -o three.hpct -- sh -c "echo three >&3" 3>three'
same "what was written to it" three "$(cat three)"
check "a good run prints nothing" [ ! -s out -a ! -s err ]

# A lookup of MPI finds none where there is none; a rank's Python, which loads it late, is ready for it.
both names "$HPCT_BIN/../tests/agent_probe" names 0 0
same "names of MPI" "linked 0 found 0" "$(cat measured.out)"
PMI_RANK=0 record rank -- "$HPCT_BIN/../tests/agent_probe" names 0 0 >out
same "names of MPI in a rank" "linked 1 found 1" "$(cat out)"
PMI_RANK=0 record unranked -- sh -c 'env -u PMI_RANK "$0" names 0 0; exec env -u PMI_RANK sh -c "\"$0\" names 0 0"' \
	"$HPCT_BIN/../tests/agent_probe" >out
same "names of MPI where the rank was taken away" "linked 0 found 0" "$(sort -u out)"

# An empty LD_PRELOAD of the user's own stays; a program that blocks or handles all signals is sampled.
if [ -x /usr/bin/python3 ]; then
	cat >signals.py <<'END'
import signal, time
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, lambda *a: None)
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
end = time.thread_time() + 0.5
while time.thread_time() < end:
    pass
print(sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])) == sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}))
END
	both signals /usr/bin/python3 signals.py
	check "a program that blocks all signals is sampled, got $(sample_count signals) samples" \
		[ "$(sample_count signals)" -ge 30 ]
	weights_agree signals
fi
