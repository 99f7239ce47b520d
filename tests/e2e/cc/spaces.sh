# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Names with blanks, quotes and other surprises reach clang as they are.
. "$(dirname "$0")/lib.sh"
mkdir "it's a folder" && cd "it's a folder"
program >'a "b" $c.c'
"$ACC" -DTEXT='"a b"' -I 'no such folder' 'a "b" $c.c' -o 'the program; echo' || fail "cannot compile"
cd ..
watched "$work/it's a folder/the program; echo"
same "output" 2 "$(cat output)"

# atomsan itself may be installed below such a name; commas are special to the linker.
mkdir -p 'my tools, new/src'
cp "$ATOMSAN" 'my tools, new/atomsan'
cp -r "$build/include" 'my tools, new/'
for part in pass rt; do
	mkdir "my tools, new/src/$part"
	cp "$build/src/$part/"*.so "$build/src/$part/"*.o "$build/src/$part/"*.syms "my tools, new/src/$part/" 2>/dev/null || :
done
program >plain.c
'my tools, new/atomsan' cc plain.c -o plain || fail "cannot compile from a folder with blanks and commas"
watched ./plain
eval "$clang $('my tools, new/atomsan' cc --print cflags) plain.c -o plain2 $('my tools, new/atomsan' cc --print ldflags)" ||
	fail "--print does not quote"
watched ./plain2
