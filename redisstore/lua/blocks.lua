-- blocks: requests that are decided without tables and functions of their own, which
-- cost such a request more than to decide it. It stands in the script where
-- that says "#include blocks".
--
-- What is to be written for a request of several charges is in W, by key, until all of
-- them are decided: a state, or of one only the 3 bytes of its units, or false. PX
-- has the expiry of those that get a new one.
local W, PX
local last = 0  -- the last key of the blocks before
local even = nblocks > 0  -- whether all values are of 12 bytes
local from, _, machine, mark, capacity, whole, rem, den, usedcap, window, runcap, maxruns, grid
for _ = 1, nblocks do
  local requests, columns, counted, kind, cost
  requests, columns, counted, kind, cost, pos = unpack_('>I2BBBI3', blob, pos)
  local head, counts = pos - 4, pos
  counted = counted == 1
  if counted then pos = pos + 2 * requests else admitted = admitted + requests end
  local first, before = last, from
  last = first + requests * columns
  if columns > 1 and not W then W, PX = { unpack(K) }, {} end -- of the right size at once
  local N  -- of the requests, from 0, of which not all fit: how many do, or -1 for one of rest
  for column = 1, columns do
    if column > 1 then kind, cost, pos = unpack_('>BI3', blob, pos) end
    if kind < 2 then
      from = pos
      _, machine, mark, capacity, whole, rem, den, usedcap, window, runcap, maxruns, grid, pos = unpack_(METER, blob, pos)
    end
    local base = mark * 16777216 -- a state begins with the mark and the units: one number of 5 bytes
    local runs, edge, most = machine == RUNS, now - window, capacity
    if runs and runcap < most then most = runcap end
    local count, units = 1, cost
    for k = first + column, last, columns do
      if counted then
        count = unpack_('>I2', blob, counts + 2 * (k - first - column) / columns)
        units = count * cost
        if column == 1 then admitted = admitted + count end
      end
      local v = V[k]
      local new, px, used, at, ln = false, nil, nil, nil, nil
      if runs and v and v ~= 1 and #v == 12 then
        used, at = unpack_('>I5I7', v)
        used = used - base + units
        -- One run that has room for more, as nearly every window: its expiry stays.
        if used > units and used <= most and at > edge then new = pack('>I3', used) end
      end
      if not new then
        if not v or v == 1 or #v ~= 12 then even = false end
        local ok, frac, same, stored, body, h
        --#include look
        local take, n = units, count
        if not ok then
          n, take = -1, 0
        elseif capacity - used < units then
          n = capacity - used < cost and 0 or floor((capacity - used) / cost)
          if kind % 2 == 0 then take = n * cost end
          if take > usedcap - used then take = usedcap - used end
        end
        if n < count then
          if columns > 1 then
            local r = (k - first - column) / columns
            N = N or {}
            if not N[r] or n < N[r] then N[r] = n end
          elseif ok then
            admitted = admitted - count + n
          else
            admitted = admitted - count
            if v ~= 1 then
              rest = rest or {}
              rest[#rest + 1] = { count = count, { from = from, mode = kind % 2 == 1 and ALWAYS or ENFORCE, k = k, cost = cost } }
            end
          end
        end
        if take > 0 then
          --#include put
        end
      end
      if columns > 1 then
        W[k] = new
        if px then PX[k] = px end
      elseif new then
        --#include write
      end
    end
  end

  -- Where not all fit: none of it is written but what counts always, or it is
  -- decided again.
  if N then
    local again = {}
    for r, n in pairs(N) do
      local count = counted and unpack_('>I2', blob, counts + 2 * r) or 1
      admitted = admitted - count
      if n ~= 0 then
        rest = rest or {}
        again[r] = { count = count }
        rest[#rest + 1] = again[r]
      end
    end
    for column = 1, columns do
      local kind, cost
      kind, cost, head = unpack_('>BI3', blob, head)
      if column == 1 and counted then head = head + 2 * requests end
      if kind < 2 then before, head = head, head + 42 end
      for r in pairs(N) do
        local k, a = first + column + r * columns, again[r]
        if a then a[#a + 1] = { from = before, mode = kind % 2 == 1 and ALWAYS or ENFORCE, k = k, cost = cost } end
        if a or kind % 2 == 0 then W[k] = false end
      end
    end
  end
  if columns > 1 then
    for k = first + 1, last do
      local new, px, v = W[k], PX[k], V[k]
      if new then
        --#include write
      end
    end
  end
end
