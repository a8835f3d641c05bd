/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moves.c FILE - writes and reads FILE by known bytes. hpct-record -e IO must show, by call path:
 *
 *   function      written                 read
 *   write_plain   100 x 1000              -
 *   write_parts   10 x (3 + 4000)         -                    writev
 *   write_buffer  1000 x 24               -                    fwrite
 *   read_plain    -                       100000, by 4096      the last call moves 0
 *   read_buffer   -                       40030, by 10         fread
 *   read_lines    -                       3000 x 8             getline
 *   echo          2 threads x 500 x 16    the same             a pipe
 *
 * It prints what was written and read; the output itself is written, too.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static _Atomic long written, got;

APART static void write_plain(int fd)
{
	char block[1000];

	memset(block, 'p', sizeof(block));
	for (int i = 0; i < 100; i++)
		written += write(fd, block, sizeof(block));
}

APART static void write_parts(int fd)
{
	char small[3] = "abc", large[4000];
	struct iovec parts[] = {{small, sizeof(small)}, {large, sizeof(large)}};

	memset(large, 'v', sizeof(large));
	for (int i = 0; i < 10; i++)
		written += writev(fd, parts, 2);
}

APART static void write_buffer(FILE *file)
{
	for (int i = 0; i < 1000; i++)
		written += (long)(8 * fwrite("1234567\n1234567\n1234567\n", 8, 3, file));
}

APART static void read_plain(int fd)
{
	char block[4096];
	long bytes, left = 100000;

	do {
		bytes = read(fd, block, left < 4096 ? (size_t)left : sizeof(block));
		got += bytes;
		left -= bytes;
	} while (bytes > 0);
}

APART static void read_buffer(FILE *file)
{
	char block[10];

	for (int i = 0; i < 4003; i++)
		got += (long)fread(block, 1, sizeof(block), file);
}

APART static void read_lines(FILE *file)
{
	char *line = NULL;
	size_t room = 0;
	long bytes;

	while ((bytes = getline(&line, &room, file)) > 0)
		got += bytes;
	free(line);
}

APART static void *echo(void *nothing)
{
	char block[16] = "";
	int ends[2];

	if (pipe(ends))
		return NULL;
	for (int i = 0; i < 500; i++) {
		written += write(ends[1], block, sizeof(block));
		got += read(ends[0], block, sizeof(block));
	}
	close(ends[0]);
	close(ends[1]);
	return nothing;
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	pthread_t thread[2];
	FILE *file;

	if (fd < 0)
		return 2;
	write_plain(fd);
	write_parts(fd);
	file = fdopen(dup(fd), "r+");
	write_buffer(file);
	fflush(file);
	lseek(fd, 0, SEEK_SET);
	read_plain(fd);
	rewind(file);
	fseek(file, 100000, SEEK_SET);
	read_buffer(file);
	read_lines(file);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, echo, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	printf("%ld %ld\n", (long)written, (long)got);
	fclose(file);
	close(fd);
	return 0;
}
