package redisstore

import (
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"strings"
)

// The commit script, a concept a file. A function call costs Redis as much as half
// a decision, so its parts are not functions but text that is put in its place.
var (
	//go:embed lua/commit.lua
	commitText string
	//go:embed lua/blocks.lua
	blocksText string
	//go:embed lua/look.lua
	lookText string
	//go:embed lua/put.lua
	putText string
	//go:embed lua/write.lua
	writeText string
	//go:embed lua/states.lua
	statesText string
	//go:embed lua/decide.lua
	decideText string

	commitBody = strings.NewReplacer(
		"--#include blocks\n", strings.NewReplacer(
			"--#include look\n", lookText, "--#include put\n", putText, "--#include write\n", writeText,
		).Replace(blocksText),
		"--#include states\n", statesText, "--#include decide\n", decideText,
	).Replace(commitText)
)

// script is a variant of the commit script: the same body after another
// prelude.
type script struct{ source, sha string }

func newScript(prelude string) script { return scriptOf(prelude + commitBody) }

func scriptOf(source string) script {
	sum := sha1.Sum([]byte(source))
	return script{source: source, sha: hex.EncodeToString(sum[:])}
}

// The preludes. Declared keys are what Redis Cluster can redirect; undeclared
// ones are what it lets a script use across the slots of one node.
const (
	declaredKeys = `#!lua
local K, blob = KEYS, ARGV[1]
`
	readTogether = `local V
if K[2] then
  V = redis.call('MGET', unpack(K))
else
  local v = redis.pcall('GET', K[1])
  if type(v) == 'table' then
    if not string.find(v.err, 'WRONGTYPE', 1, true) then error(v) end
    v = false
  end
  V = { v }
end
`
	anySlotKeys = `#!lua flags=allow-cross-slot-keys
local K, blob = {}, ARGV[1]
`
	readEach = `local V = {}
for i = 2, #ARGV do
  local v = redis.pcall('GET', ARGV[i])
  if type(v) == 'table' then
    if string.find(v.err, 'non local key', 1, true) then v = 1
    elseif string.find(v.err, 'WRONGTYPE', 1, true) then v = false
    else error(v) end
  end
  K[i - 1], V[i - 1] = ARGV[i], v
end
`
	redisClock = `local t = redis.call('TIME')
local now, still = t[1] * 1000000 + t[2], false
local lib = string.byte(blob) == 1 and rawget(_G, 'os')
local clock = lib and lib.clock
local began = clock and clock()
`
	// A test's clock: the caller's instant is the last argument.
	testClock = `local now, still = tonumber(table.remove(ARGV)), true
local clock, began
`
)

// scripts are the two variants a store uses.
type scripts struct{ declared, anySlot script }

func newScripts(test bool) scripts {
	clock := redisClock
	if test {
		clock = testClock
	}
	return scripts{
		declared: newScript(declaredKeys + clock + readTogether),
		anySlot:  newScript(anySlotKeys + clock + readEach),
	}
}
