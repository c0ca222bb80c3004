#!lua
-- members: notes that an instance lives, or that it leaves, on Redis's clock.
--
-- KEYS[1]  the members: for each 16 bytes of id and u64 milliseconds since the
--          epoch of its last heartbeat, big-endian
-- ARGV[1]  id of 16 bytes, u32 milliseconds that a heartbeat counts, u8 1 to
--          live or 0 to leave
--
-- Returns how many live, then seconds and microseconds of TIME. See
-- Members.beat in members.go.
--
-- One string, because GET, SET and DEL are what a user of the counters may run
-- anyway, and because it then expires whole.

local most = 1024 -- members; more are not counted

local id = string.sub(ARGV[1], 1, 16)
local ttl, lives = struct.unpack('>I4B', ARGV[1], 17)
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)

local old = redis.pcall('GET', KEYS[1])
if type(old) ~= 'string' then old = '' end

local new = {}
if lives == 1 then new[1] = id .. struct.pack('>I8', now) end
for i = 1, #old - 23, 24 do
  local who = string.sub(old, i, i + 15)
  -- After a failover the clock may be behind what it was.
  local seen = math.min(struct.unpack('>I8', old, i + 16), now)
  if who ~= id and seen > now - ttl and #new < most then
    new[#new + 1] = who .. struct.pack('>I8', seen)
  end
end

if #new > 0 then
  redis.call('SET', KEYS[1], table.concat(new), 'PX', ttl)
else
  redis.call('DEL', KEYS[1])
end
return { #new, tonumber(t[1]), tonumber(t[2]) }
