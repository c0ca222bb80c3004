package redisstore

import (
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"strings"
)

// The commit script, a concept a file. A function call costs Redis as much as half
// a decision, so what the script does at several places is put there as text.
var (
	//go:embed lua/commit.lua
	commitText string
	//go:embed lua/look.lua
	lookText string
	//go:embed lua/put.lua
	putText string
	//go:embed lua/states.lua
	statesText string
	//go:embed lua/decide.lua
	decideText string

	commitBody = strings.NewReplacer(
		"--#include look\n", lookText, "--#include put\n", putText,
		"--#include states\n", statesText, "--#include decide\n", decideText,
	).Replace(commitText)
)

// script is a variant of the commit script: the same body after another
// prelude.
type script struct{ source, sha string }

func newScript(prelude string) script {
	source := prelude + commitBody
	sum := sha1.Sum([]byte(source))
	return script{source: source, sha: hex.EncodeToString(sum[:])}
}

// The preludes. Declared keys are what Redis Cluster can redirect; undeclared
// ones are what it lets a script use across the slots of one node.
const (
	declaredKeys = `#!lua
local K, blob = KEYS, ARGV[1]
local function read(keys, n)
  if n > 1 then return redis.call('MGET', unpack(keys)) end
  local v = redis.pcall('GET', keys[1])
  if type(v) == 'table' then
    if not string.find(v.err, 'WRONGTYPE', 1, true) then error(v) end
    v = false
  end
  return { v }
end
`
	anySlotKeys = `#!lua flags=allow-cross-slot-keys
local blob, K = ARGV[1], {}
local function read(keys, n)
  local v = {}
  for i = 1, n do
    local x = redis.pcall('GET', keys[i])
    if type(x) == 'table' then
      if string.find(x.err, 'non local key', 1, true) then x = 1
      elseif string.find(x.err, 'WRONGTYPE', 1, true) then x = false
      else error(x) end
    end
    v[i] = x
  end
  return v
end
`
	restAreKeys = `for i = 2, #ARGV do K[i - 1] = ARGV[i] end
`
	redisClock = `local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local function elapsed()
  t = redis.call('TIME')
  return t[1] * 1000000 + t[2] - now
end
`
	// A test's clock: the caller's instant is the last argument.
	testClock = `local now = tonumber(table.remove(ARGV))
local function elapsed() return 0 end
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
		declared: newScript(declaredKeys + clock),
		anySlot:  newScript(anySlotKeys + clock + restAreKeys),
	}
}
