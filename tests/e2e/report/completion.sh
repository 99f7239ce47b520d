#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# completion.sh ATOMSAN SAMPLES: what the shells complete is what the verbs know.
set -eu
atomsan=$(realpath "$1")
samples=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset ATOMSAN_DB
"$atomsan" completion bash >bash
source ./bash
touch file.atr

# complete_words WORD...: what bash would offer for the last word, sorted, in one line.
complete_words()
{
	COMP_WORDS=("$atomsan" "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	compopt() { :; } # only there while a shell completes
	_atomsan || true
	echo "${COMPREPLY[@]}" | tr ' ' '\n' | sort | tr '\n' ' '
}

expect()
{
	local want=$1 got
	shift
	got=$(complete_words "$@")
	[ "$got" = "$want " ] || { echo "atomsan $*: '$got', not '$want '"; exit 1; }
}

expect "show" sho
expect "mark" mar
expect "verify" ver
expect "--strip-path-prefix=" show --st
expect "--db=" list --db
expect "file.atr" dump fi
expect "file.atr" list --db = fi
"$samples" json bank >bank.json
"$atomsan" import bank.json >/dev/null || [ $? = 66 ]
expect "F-74dbc92d1114" show F-7
expect "F-74dbc92d1114" replay F-

# Every verb is offered, and every option that its help has a line for.
verbs=$("$atomsan" -h | sed -n 's/^  \([^ ][^ ]*\)  *[^ ].*/\1/p')
"$atomsan" completion zsh >_atomsan
offered=" $(complete_words '')"
for verb in $verbs; do
	[[ $offered == *" $verb "* ]] || { echo "$verb is not offered"; exit 1; }
	options=" $(complete_words "$verb" -)"
	for option in $("$atomsan" "$verb" -h | sed -n 's/^  \(--[a-z-]*\).*/\1/p'); do
		[[ $options == *" $option"[\ =]* ]] || { echo "$verb $option is not offered"; exit 1; }
		grep -q -- "'$option[=[]" _atomsan || { echo "zsh: $verb $option is not offered"; exit 1; }
	done
done
if command -v zsh >/dev/null; then
	zsh -n _atomsan
fi
if "$atomsan" completion fish >out 2>err || [ "$(wc -l <err)" != 1 ]; then
	echo "there is no completion for fish, and one sentence should say so"
	exit 1
fi
