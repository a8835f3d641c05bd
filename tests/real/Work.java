// SPDX-License-Identifier: Apache-2.0
// Threads of Java that compute in compiled code, in the interpreter at first, and in the collector of garbage.
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public class Work {
	static long sieve(int most) {
		boolean[] composite = new boolean[most + 1];
		long sum = 0;

		for (int i = 2; i <= most; i++) {
			if (composite[i])
				continue;
			sum += i;
			for (long j = (long) i * i; j <= most; j += i)
				composite[(int) j] = true;
		}
		return sum;
	}

	static int words(int rounds) {
		Map<String, Integer> counts = new HashMap<>();

		for (int i = 0; i < rounds; i++)
			counts.merge("word" + i % 1009, 1, Integer::sum);
		return counts.values().stream().mapToInt(Integer::intValue).sum();
	}

	static int deep(int n) {
		return n == 0 ? 0 : 1 + deep(n - 1);
	}

	public static void main(String[] arguments) throws Exception {
		long[] sums = new long[4];
		List<Thread> threads = new ArrayList<>();

		for (int t = 0; t < sums.length; t++) {
			int me = t;
			threads.add(new Thread(() -> {
				for (int round = 0; round < 12; round++)
					sums[me] += sieve(1000000 + me) + words(200000) + deep(500);
			}, "worker-" + t));
		}
		for (Thread thread : threads)
			thread.start();
		for (Thread thread : threads)
			thread.join();
		for (long sum : sums)
			System.out.println(sum);
	}
}
