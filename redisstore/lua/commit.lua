-- commit: decides a batch of requests, all or nothing each, on Redis's clock.
--
-- Before this text stands a prelude (see script.go) that defines
--   K      table of key names, from index 1: state keys, then replay keys
--   V      table of their values: string, false, or 1 for a key that this node
--          does not hold
--   blob   the packed batch
--   now    microseconds since the epoch; still, whether that is a test's
--   clock  where there is one and the batch is timed: what tells processor time, in
--          seconds, and began, what it told at first
--
-- blob, big-endian (see wire.go):
--   timed u8, nblocks u16, ngroups u16, the blocks, if there are groups nmeters u16
--   and the meters, and the groups
--   block:   requests u16, columns u8, counted u8, then the columns: kind u8, cost
--            u24, and of kind 0 or 1 a meter; if counted, before the first meter, of each
--            request its count u16
--   meter:   shapes u8, machine u8, mark u16, capacity u24, whole u56, rem u24, den u24,
--            usedcap u24, window u56, runcap u24, maxruns u16, grid u56
--   group:   count u16, ncharges u8, flags u8, then the charges; with flag 16 the
--            twins of all charges; with flag 1 or 4 a replay key u16; with flag 2
--            an owner of 16; with flag 64 an attempt of 8
--   charge:  key u16, meter u16, mode u8, any-of group u8, cost u24
--   twin:    key u16 or 0, twinning u8
-- A group, and each request of a block, is count identical requests. flags: 1 remember
-- and replay, 2 has an owner, 4 undo what was remembered, 8 remember for 10 s
-- instead of 10 minutes, 16 has twins, 32 is plain, 64 has an attempt.
--
-- What is asked most is told apart by the caller, to be decided with little:
--   block    requests of the same limits and costs, whose charges all count and must
--            all fit, each on a key that no other charge of the batch is on, and so
--            in any order. Their keys are the first, in the order of the requests. A
--            column is the charges of one limit and cost, one of each request. Of an
--            odd kind it counts always; of kind 2 or 3 it is of the limit of that before.
--   plain    requests of charges that all count and all must fit
--
-- Returns the values read, in the order of the keys, then now, how many
-- requests were admitted, and if timed the microseconds that it took. Where all
-- requests are in blocks and all values are of 12 bytes, which is the rule, it is all
-- one string, which costs Redis less than a list: their size u8, now u56, admitted u32,
-- time u32, and the values. The caller runs the same batch on the same values with
-- algo.Settle, which this mirrors, and so needs nothing else.
--
-- Everything is read before anything is written: a key that is elsewhere
-- fails its own requests only.

local floor, unpack_, pack, sub, call = math.floor, struct.unpack, struct.pack, string.sub, redis.call
local BUCKET, WINDOW, RUNS, SLOTS = 0, 1, 2, 3
local ENFORCE, SHADOW, ALWAYS, PEEK, REFUND, UPTO = 0, 1, 2, 3, 4, 5
local RUN, METER = '>I7I3', '>BBI2I3I7I3I3I3I7I3I2I7'

local timed, nblocks, ngroups, pos = unpack_('>BI2I2', blob)
local admitted = 0
local rest  -- what needs the tables and functions after all: { count, charges }

--#include blocks

if ngroups > 0 or rest then
  local min, max = math.min, math.max
  local SLOT = '>I7I3c16'

  local function meter(at)
    local m = { from = at }
    m.shapes, m.machine, m.mark, m.capacity, m.whole, m.rem, m.den, m.usedcap, m.window, m.runcap, m.maxruns, m.grid, at =
      unpack_(METER, blob, at)
    m.to, m.floor = at - 1, m.machine * 16384
    return m, at
  end

  local meters, nmeters = {}, 0
  if ngroups > 0 then nmeters, pos = unpack_('>I2', blob, pos) end
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
      local key, owner, attempt
      if flags % 2 == 1 or flags % 8 >= 4 then
        key, pos = unpack_('>I2', blob, pos)
        here = here and V[key] ~= 1
      end
      if flags % 4 >= 2 then owner, pos = unpack_('c16', blob, pos) end
      if flags >= 64 then attempt, pos = unpack_('c8', blob, pos) end
      if here then
        if flags % 32 >= 16 then
          decide_twins = decide_twins or make_decide(true)
          admitted = admitted + decide_twins(cs, count, flags, key, owner, attempt)
        else
          decide = decide or make_decide(false)
          admitted = admitted + decide(cs, count, flags, key, owner, attempt)
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
    if rec and TTL[key] then
      call('SET', K[key], rec, 'PX', TTL[key])
    elseif rec then
      call('SET', K[key], rec, 'KEEPTTL')
    elseif V[key] then
      call('DEL', K[key])
    end
  end
end

local took = 0
if timed == 1 and not still then
  local t = call('TIME')
  took = t[1] * 1000000 + t[2] - now
  -- From 7.2 on time stands still in a script; from 7.4 on there is another clock.
  if took == 0 and clock then took = floor((clock() - began) * 1000000 + 0.5) end
end
if even and ngroups == 0 then
  V[1] = pack('>BI7I4I4', 12, now, admitted, took) .. V[1]
  return K[2] and table.concat(V) or V[1]
end
local n = #K
V[n + 1], V[n + 2], V[n + 3] = now, admitted, took
return V
