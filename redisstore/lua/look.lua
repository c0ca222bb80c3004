-- look: the state of one key as it is now, for a limit whose meter's fields are
-- locals. It stands in the script where that says "#include look".
--
-- Reads v, what the key holds, the meter, base, its mark before the units, and edge,
-- where its window begins. Sets
--   ok             whether v is nothing or a state that this limit wrote; if not,
--                  nothing else counts
--   used, at, frac what is in use, since when, and the fraction; with runs at is
--                  the newest's instant, ln its units, body the older ones as they
--                  are stored, from h on
--   same           whether at and frac are as they are stored
--   stored         where the cell of the grid begins that the expiry is in, or nil
--
-- Quotients are rounded down by %, because floor is a call.
ok, used, at, frac, ln = true, 0, now, 0, nil
if v then
  local size = 0
  if v ~= 1 then size = #v end
  if machine == RUNS then
    if size == 12 then
      body, h = '', 1
      used, at = unpack_('>I5I7', v)
      ln = used - base
    elseif size > 15 and size % 10 == 5 then
      body, h = sub(v, 6, -11), 1
      used = unpack_('>I5', v)
      at, ln = unpack_(RUN, v, size - 9)
    end
  elseif size == 12 then
    used, at = unpack_('>I5I7', v)
  elseif size == 15 and machine == BUCKET then
    used, at, frac = unpack_('>I5I7I3', v)
  end
  used = used - base
  ok = used > 0 and used < 16777216 and frac < den -- of this mark, and no more
  if ok then
    if machine == BUCKET then
      local n = used
      if n > usedcap then n = usedcap end
      same = true
      local e = now - at
      if den == 1 then
        stored = at + n * whole
        if e > 0 then
          n = (e - e % whole) / whole
          if n >= used then
            used = 0
          elseif n > 0 then
            used, at, same = used - n, at + n * whole, false
          end
        end
      else
        stored = n * rem + frac + den - 1
        stored = at + n * whole + (stored - stored % den) / den
        if e > 0 then
          n = floor((e - frac / den) / (whole + rem / den))
          if n <= used + 1 then
            while n > 0 and n * whole + floor((n * rem + frac + den - 1) / den) > e do n = n - 1 end
            while (n + 1) * whole + floor(((n + 1) * rem + frac + den - 1) / den) <= e do n = n + 1 end
          end
          if n >= used then
            used = 0
          elseif n > 0 then
            local sum = n * rem + frac
            local up = floor(sum / den)
            used, at, frac, same = used - n, at + n * whole + up, sum - up * den, false
          end
        end
      end
    elseif machine == WINDOW then
      same = true
      stored = at - at % window + window
      if now >= stored then used = 0 end
    else
      stored = at + window
      while h <= #body do
        local t, units = unpack_(RUN, body, h)
        if t > edge then break end
        used, h = used - units, h + 10
      end
      if used <= 0 or h > #body and at <= edge then used = 0 end
    end
    stored = stored - stored % grid
  end
end
