#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# fetch.sh SOURCE...: upstream tar files of Debian source packages to
# $WORK/downloads, as SOURCE_*.orig.tar.*. Changes nothing in the machine's own
# apt configuration: sources, lists and caches are private copies.
set -eu

missing=
for source in "$@"; do
	ls "$WORK/downloads/${source}"_*.orig.tar.* >/dev/null 2>&1 || missing="$missing $source"
done
[ -n "$missing" ] || exit 0

apt=$WORK/apt
rm -rf "$apt"
mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/cache/archives/partial"
eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
for file in "$list" "$parts"/*.list; do
	[ ! -f "$file" ] || sed -n 's/^deb[[:space:]]/deb-src /p' "$file" >>"$apt/parts/copy.list"
done
for file in "$parts"/*.sources; do
	[ ! -f "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$apt/parts/$(basename "$file")"
done

with_private_apt()
{
	apt-get -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$apt/parts" \
		-o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root "$@"
}

cd "$WORK/downloads"
if ! { with_private_apt update && with_private_apt source --download-only --tar-only $missing; } \
	>"$WORK/fetch.log" 2>&1; then
	tail -5 "$WORK/fetch.log" >&2
	echo "test-real: could not fetch the sources of$missing, see $WORK/fetch.log" >&2
	exit 1
fi
rm -rf "$apt"
