// SPDX-License-Identifier: Apache-2.0
// Churn SECONDS : trouble for whoever reads a Java machine's stacks: threads that come and go, exceptions, garbage,
// classes that are loaded and unloaded, calls whose targets change, locks. Prints the same whatever happens to it.
import java.lang.reflect.Constructor;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.Function;

public class Churn {
	interface Shape {
		int area(int n);
	}

	static class Loader extends ClassLoader {
		Class<?> define(byte[] code) {
			return defineClass("Churned", code, 0, code.length);
		}
	}

	static int thrown(int n) {
		if (n == 0)
			throw new IllegalStateException("bottom");
		return thrown(n - 1) + 1;
	}

	static long exceptions(int n) {
		try {
			return thrown(n);
		} catch (IllegalStateException e) {
			return e.getStackTrace().length;
		}
	}

	static long garbage(int n) {
		List<byte[]> kept = new ArrayList<>();
		for (int i = 0; i < n; i++) {
			kept.add(new byte[i % 4096]);
			if (kept.size() > 300)
				kept.clear();
		}
		return kept.size();
	}

	static long shapes(int n) {
		Shape[] shapes = {x -> x, x -> x * 2, x -> x * x, x -> -x};
		long sum = 0;
		for (int i = 0; i < n; i++)
			sum += shapes[i % (1 + n % 4)].area(i);
		return sum;
	}

	static long loads(byte[] code) throws Exception {
		for (int i = 0; i < 5; i++) {
			Constructor<?> make = new Loader().define(code).getDeclaredConstructor();
			make.setAccessible(true);
			Runnable made = (Runnable) make.newInstance();
			for (int j = 0; j < 200; j++)
				made.run();
		}
		return 5;
	}

	static long sorts(int n) {
		String[] texts = new String[n];
		Random chance = new Random(n);
		for (int i = 0; i < n; i++)
			texts[i] = Integer.toString(chance.nextInt());
		Arrays.sort(texts, Comparator.comparing(String::length).thenComparing(Function.identity()));
		return texts[0].length();
	}

	static synchronized long locked(long n) {
		return n + 1;
	}

	static long turn(int n, byte[] code) throws Exception {
		long sum = exceptions(20 + n % 50) + garbage(2000) + shapes(3000 + n) + loads(code) + sorts(300);
		for (int i = 0; i < 1000; i++)
			sum = locked(sum);
		return sum;
	}

	public static void main(String[] arguments) throws Exception {
		byte[] code = Files.readAllBytes(Paths.get("Churned.class"));
		long end = System.nanoTime() + (long) (Double.parseDouble(arguments[0]) * 1e9), turns = 0;
		while (System.nanoTime() < end || turns < 20) {
			ExecutorService pool = Executors.newFixedThreadPool(4);
			List<Future<Long>> all = new ArrayList<>();
			for (int i = 0; i < 12; i++) {
				int n = i;
				all.add(pool.submit(() -> turn(n, code)));
			}
			for (Future<Long> one : all)
				one.get();
			pool.shutdown();
			if (++turns % 20 == 0)
				System.gc();
		}
		System.out.println("churned");
		System.exit(4);
	}
}

class Churned implements Runnable {
	int n;

	public void run() {
		for (int i = 0; i < 50; i++)
			n += i ^ n;
	}
}
