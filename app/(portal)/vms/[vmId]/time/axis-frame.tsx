'use client';

import { useMemo } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTimeZone } from '#app/_ui/clock.ts';
import { headHeight, laneHeight } from './measures.ts';
import { domainOf, gridOf, type Range, zoneOffset } from './span.ts';

export interface AxisFrameProps {
  range: Range;
  now: number;
  deadline: number | null;
  width: number;
  height: number;
  xOf(at: number): number;
}

/** What stands behind the events: lines of the clock and of the lanes, now, and the future up to the next deadline. */
export function AxisFrame({ range, now, deadline, width, height, xOf }: AxisFrameProps) {
  const { t } = useTranslation('timeline');
  const timeZone = useTimeZone();
  const clock = useClock(range, timeZone);
  const offset = useMemo(() => zoneOffset(timeZone), [timeZone]);
  const { from, to } = domainOf(range, now);
  const lines = gridOf(range, from, now, offset);
  const present = xOf(now);
  const due = deadline !== null && deadline > from ? deadline : null;
  const late = due !== null && due <= now;
  const dueX = due === null ? 0 : xOf(due);
  const within = due !== null && due <= to;
  // A narrow axis keeps its times and drops its words.
  const narrow = width < 640;
  const dueTime = due === null ? '' : `${clock(due)}${within || narrow ? '' : ' →'}`;
  const dueWords = narrow ? dueTime : t(late ? 'deadline.past' : 'deadline', { time: dueTime });
  const dueWidth = dueWords.length * 6;
  const nowWidth = t('now').length * 6;
  // What is due is read from the left where it lies behind, and ends at the edge where it lies beyond.
  const dueTextX = late
    ? Math.min(Math.max(dueX, dueWidth / 2), present - dueWidth / 2 - nowWidth)
    : Math.min(Math.max(dueX, present + nowWidth / 2 + 8 + dueWidth / 2), width - dueWidth / 2);
  const every = Math.max(1, Math.ceil(58 / Math.max(1, xOf(lines[1] ?? to) - xOf(lines[0] ?? from))));
  const text = { y: 12, textAnchor: 'middle', className: 'text-11 tabular-nums select-none' } as const;
  return (
    <g aria-hidden className="pointer-events-none">
      {due !== null && !late ? (
        <rect x={present} y={headHeight} width={dueX - present} height={height - headHeight} fill="var(--sunken)" />
      ) : null}
      {lines.map((at) => (
        <path key={at} d={`M${Math.round(xOf(at)) + 0.5} ${headHeight}V${height}`} stroke="var(--line-subtle)" />
      ))}
      {lines
        .filter(
          (at) => ((at + offset(at)) / (lines[1] && lines[0] ? lines[1] - lines[0] : 1)) % every === 0 || every === 1,
        )
        .filter((at) => xOf(at) > 14 && xOf(at) < present - (narrow ? nowWidth : nowWidth / 2) - 20)
        .filter((at) => !late || Math.abs(xOf(at) - dueTextX) > dueWidth / 2 + 20)
        .map((at) => (
          <text key={at} {...text} x={xOf(at)} fill="var(--text-3)">
            {clock(at)}
          </text>
        ))}
      {Array.from({ length: (height - headHeight) / laneHeight }, (_, lane) => (
        <path
          // biome-ignore lint/suspicious/noArrayIndexKey: a lane is its number
          key={lane}
          d={`M0 ${headHeight + lane * laneHeight + 0.5}H${width}`}
          stroke={lane === 0 ? 'var(--line)' : 'var(--line-subtle)'}
        />
      ))}
      {within ? (
        <path
          d={`M${dueX} ${headHeight}V${height}`}
          stroke={late ? 'var(--failed-solid)' : 'var(--warning-solid)'}
          strokeWidth="1.5"
          strokeDasharray="4 3"
        />
      ) : null}
      <path d={`M${present} ${headHeight - 2}V${height}`} stroke="var(--text)" strokeWidth="1.5" />
      <text
        {...text}
        x={narrow ? present - 3 : present}
        textAnchor={narrow ? 'end' : 'middle'}
        fill="var(--text)"
        className="text-11 font-semibold select-none"
      >
        {t('now')}
      </text>
      {due === null ? null : (
        <text
          {...text}
          x={narrow && !late ? width : dueTextX}
          textAnchor={narrow && !late ? 'end' : 'middle'}
          fill={late ? 'var(--failed-text)' : 'var(--warning-text)'}
          className="text-11 font-medium tabular-nums select-none"
        >
          {dueWords}
        </text>
      )}
    </g>
  );
}

/** How the moments of a range are named: by the clock, over days by the day. */
function useClock(range: Range, timeZone: string): (at: number) => string {
  const { i18n } = useTranslation();
  return useMemo(() => {
    const byDay = range === '7d';
    const format = new Intl.DateTimeFormat(i18n.language, {
      timeZone,
      ...(byDay ? { weekday: 'short', day: 'numeric' } : { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
    });
    return (at) => format.format(at);
  }, [i18n.language, range, timeZone]);
}
