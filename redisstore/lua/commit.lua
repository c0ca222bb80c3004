-- commit: decides a batch of requests, all or nothing each, on Redis's clock.
--
-- Before this text stands a prelude (see script.go) that defines
--   K      table of key names, from index 1: nstate state keys, then replay keys
--   blob   the packed batch
--   now    microseconds since the epoch, and elapsed(), those since
--   read   function(K, n) -> table of values: string, false, or 1 for a key
--          that this node does not hold
--
-- blob, big-endian (see wire.go):
--   timed u8, nstate u16, nreplay u16, nsections u16, nseveral u16, nmeters u16, ngroups u16
--   section: meter, kind u8, cost u24, n u16, then n of: count u16, request u16, key u16
--   meter:   shapes u8, machine u8, mark u16, capacity u24, whole u56, rem u24, den u24,
--            usedcap u24, window u56, runcap u24, maxruns u16, grid u56
--   group:   count u16, ncharges u8, flags u8, then the charges; with flag 16 the
--            twins of all charges; with flag 1 or 4 a replay key u16; with flag 2
--            an owner of 16
--   charge:  key u16, meter u16, mode u8, any-of group u8, cost u24
--   twin:    key u16 or 0, twinning u8
-- A group, and each of a section, is count identical requests. flags: 1 remember
-- and replay, 2 has an owner, 4 undo what was remembered, 8 remember for 10 s
-- instead of 10 minutes, 16 has twins, 32 is plain.
--
-- What is asked most is told apart by the caller, to be decided with little:
--   section  charges that count, of one limit and one cost, each on a key that no
--            other charge of the batch is on, and so in any order. Of kind 2 they are of
--            requests of several such charges, which are numbered from 1; else the
--            request is 0, and the charge all of it. Kind 1 counts always.
--   plain    requests of charges that all count and all must fit
--
-- Returns the values read, in the order of the keys, then now, how many
-- requests were admitted, and if timed the microseconds that it took. The caller
-- runs the same batch on the same values with algo.Settle, which this mirrors,
-- and so needs nothing else.
--
-- Everything is read before anything is written: a key that is elsewhere
-- fails its own requests only.

local floor, min, max = math.floor, math.min, math.max
local unpack_, pack, sub = struct.unpack, struct.pack, string.sub
local call = redis.call
local BUCKET, WINDOW, RUNS, SLOTS = 0, 1, 2, 3
local ENFORCE, SHADOW, ALWAYS, PEEK, REFUND, UPTO = 0, 1, 2, 3, 4, 5
local RUN, SLOT = '>I7I3', '>I7I3c16'

local timed, nstate, nreplay, nsections, nseveral, nmeters, ngroups, pos = unpack_('>BI2I2I2I2I2I2', blob, 1)
local V = read(K, nstate + nreplay)
local admitted = 0

-- Sections: what follows below, without its tables and functions, which cost
-- such a request more than to decide it.
local SECTION, CHARGE = '>BBI2I3I7I3I3I3I7I3I2I7BI3I2', '>I2I2I2'
local sections = pos
local N = nseveral > 0 and {}  -- by request of several: how many fit, or -1 for one of rest
local su, sa, ss, sx, sl, sf, sb, sh = N and {}, N and {}, N and {}, N and {}, N and {}, N and {}, N and {}, N and {}
local rest  -- what needs the tables and functions after all: { count, charges }
for _ = 1, nsections do
  local from = pos
  local _, machine, mark, capacity, whole, rem, den, usedcap, window, runcap, maxruns, grid, kind, cost, charges
  _, machine, mark, capacity, whole, rem, den, usedcap, window, runcap, maxruns, grid, kind, cost, charges, pos = unpack_(SECTION, blob, pos)
  local base = mark * 16777216 -- a state begins with the mark and the units: one number of 5 bytes
  for _ = 1, charges do
    local count, request, k
    count, request, k, pos = unpack_(CHARGE, blob, pos)
    local v = V[k]
    local ok, used, at, frac, same, stored, body, h, ln
    --#include look
    if request > 0 then
      local n = N[request] or count
      if not ok then
        n = -1
      elseif n > 0 then
        local room = capacity - used
        if room < cost then
          n = 0
        elseif n > 1 then
          n = min(n, floor(room / cost))
        end
      end
      N[request] = n
      su[k], sa[k], ss[k], sx[k] = used, at, stored, same
      if den > 1 then sf[k] = frac end
      if ln then
        sl[k] = ln
        if h <= #body then sb[k], sh[k] = body, h end
      end
    elseif ok then
      local n, room = 0, capacity - used
      if room >= cost then
        n = count
        if count > 1 then n = min(count, floor(room / cost)) end
      end
      admitted = admitted + n
      if kind == 1 then n = count end
      local units = n * cost
      --#include put
    elseif v ~= 1 then
      rest = rest or {}
      rest[#rest + 1] = { count = count, { from = from, mode = kind == 1 and ALWAYS or ENFORCE, k = k, cost = cost } }
    end
  end
end

-- Requests of several charges are written once all of them were looked at.
if N then
  local failed
  for i = 1, nseveral do
    if N[i] > 0 then admitted = admitted + N[i] end
  end
  local pos = sections
  for _ = 1, nsections do
    local from = pos
    local _, machine, mark, capacity, whole, rem, den, usedcap, window, runcap, maxruns, grid, kind, cost, charges
    _, machine, mark, capacity, whole, rem, den, usedcap, window, runcap, maxruns, grid, kind, cost, charges, pos = unpack_(SECTION, blob, pos)
    local base = mark * 16777216
    if kind < 2 then
      pos = pos + 6 * charges
      charges = 0
    end
    for _ = 1, charges do
      local count, request, k
      count, request, k, pos = unpack_(CHARGE, blob, pos)
      local n = N[request]
      if n < 0 then
        rest, failed = rest or {}, failed or {}
        local r = failed[request]
        if not r then
          r = { count = count }
          failed[request], rest[#rest + 1] = r, r
        end
        r[#r + 1] = { from = from, mode = kind == 3 and ALWAYS or ENFORCE, k = k, cost = cost }
      else
        if kind == 3 then n = count end
        local units = n * cost
        if units > 0 then
          local v, used, at, frac, same, stored = V[k], su[k], sa[k], 0, sx[k], ss[k]
          local body, h, ln = sb[k] or '', sh[k] or 1, sl[k]
          if den > 1 then frac = sf[k] end
          --#include put
        end
      end
    end
  end
end

-- answer ends the script.
local function answer()
  V[nstate + nreplay + 1] = now
  V[nstate + nreplay + 2] = admitted
  V[nstate + nreplay + 3] = timed == 1 and elapsed() or 0
  return V
end
if ngroups == 0 and not rest then return answer() end

local function meter(at)
  local m = { from = at }
  m.shapes, m.machine, m.mark, m.capacity, m.whole, m.rem, m.den, m.usedcap, m.window, m.runcap, m.maxruns, m.grid, at =
    unpack_('>BBI2I3I7I3I3I3I7I3I2I7', blob, at)
  m.to, m.floor = at - 1, m.machine * 16384
  return m, at
end

local meters = {}
for i = 1, nmeters do meters[i], pos = meter(pos) end

--#include states

--#include decide

local decide, decide_twins
if rest then
  decide = make_decide(false)
  for i = 1, #rest do
    local r, here = rest[i], true
    for j = 1, #r do
      r[j].m, r[j].group = meter(r[j].from), 0
      here = here and V[r[j].k] ~= 1
    end
    if here then admitted = admitted + decide(r, r.count, 0) end
  end
end

local ready = {}  -- by key: the meter it was advanced for by a plain request; now stands still
local ck, cm, ca, cc = {}, {}, {}, {}  -- of each charge of a request: key, meter, always, cost
for _ = 1, ngroups do
  local count, nc, flags
  count, nc, flags, pos = unpack_('>I2BB', blob, pos)
  if flags == 32 then
    local n, here = count, true
    for i = 1, nc do
      local k, mi, mode, cost, _
      k, mi, mode, _, cost, pos = unpack_('>I2I2BBI3', blob, pos)
      local m = meters[mi]
      ck[i], cm[i], ca[i], cc[i] = k, m, mode == ALWAYS, cost
      if V[k] == 1 then
        here = false
      elseif here then
        if ready[k] ~= m then
          advance(k, m)
          ready[k] = m
        end
        local room = m.capacity - U[k]
        if room < cost then
          n = 0
        elseif n > 1 then
          n = min(n, floor(room / cost))
        end
      end
    end
    if here then
      admitted = admitted + n
      for i = 1, nc do
        local units = cc[i] * (ca[i] and count or n)
        if units > 0 then take(ck[i], cm[i], units) end
      end
    end
  else
    local cs, here = {}, true
    for i = 1, nc do
      local c, mi = {}, nil
      c.k, mi, c.mode, c.group, c.cost, pos = unpack_('>I2I2BBI3', blob, pos)
      c.m = meters[mi]
      cs[i], ready[c.k] = c, nil
      here = here and V[c.k] ~= 1
    end
    if flags % 32 >= 16 then
      for i = 1, nc do
        local c = cs[i]
        c.twin, c.twinning, pos = unpack_('>I2B', blob, pos)
        ready[c.twin] = nil
        here = here and (c.twin == 0 or V[c.twin] ~= 1)
      end
    end
    local key, owner
    if flags % 2 == 1 or flags % 8 >= 4 then
      key, pos = unpack_('>I2', blob, pos)
      here = here and V[key] ~= 1
    end
    if flags % 4 >= 2 then owner, pos = unpack_('c16', blob, pos) end
    if here then
      if flags % 32 >= 16 then
        decide_twins = decide_twins or make_decide(true)
        admitted = admitted + decide_twins(cs, count, flags, key, owner)
      else
        decide = decide or make_decide(false)
        admitted = admitted + decide(cs, count, flags, key, owner)
      end
    end
  end
end

for k, m in pairs(D) do
  if U[k] == 0 then
    if V[k] then call('DEL', K[k]) end
  else
    local cell, v, new = floor(expiry(k, m) / m.grid), V[k], image(k, m)
    if X[k] and M[k] == unpack_('>I2', v, 1) and floor(X[k] / m.grid) == cell then
      if #new == #v then call('SETRANGE', K[k], '0', new) else call('SET', K[k], new, 'KEEPTTL') end
    else
      call('SET', K[k], new, 'PXAT', floor(((cell + 1) * m.grid + now % m.grid) / 1000)) -- as put does
    end
  end
end
for key, rec in pairs(R) do
  if rec then
    call('SET', K[key], rec, 'PX', TTL[key])
  elseif V[key] then
    call('DEL', K[key])
  end
end

return answer()
