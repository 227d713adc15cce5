'use client';

import { useMemo } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useDateLocale, useTimeZone } from '#app/_ui/clock.ts';
import { zoneOffset } from '#app/_ui/zone-offset.ts';
import { headHeight, laneHeight } from './measures.ts';
import { domainOf, gridOf, type Range } from './span.ts';

export interface AxisFrameProps {
  range: Range;
  now: number;
  deadline: number | null;
  width: number;
  height: number;
  xOf(at: number): number;
}

/** The background of the axis: grid lines, lanes, the current time, and the time until the next deadline. */
export function AxisFrame(props: AxisFrameProps) {
  const { t } = useTranslation('timeline');
  const { range, now, width, height, xOf } = props;
  const timeZone = useTimeZone();
  const clock = useClock(range, timeZone);
  const offset = useMemo(() => zoneOffset(timeZone), [timeZone]);
  const { from } = domainOf(range, now);
  const lines = gridOf(range, from, now, offset);
  const present = xOf(now);
  // A narrow axis shows the time of the deadline without its label.
  const narrow = width < 640;
  const due = useDue(props, clock, narrow);
  const nowWidth = widthOf(t('now'));
  // If there is no space for both labels, each label stays on its side of the line.
  const crowded = narrow || (due !== null && !due.late && width - present < nowWidth / 2 + 8 + due.textWidth);
  return (
    <g aria-hidden className="pointer-events-none">
      {due !== null && !due.late ? (
        <rect x={present} y={headHeight} width={due.x - present} height={height - headHeight} fill="var(--sunken)" />
      ) : null}
      {lines.map((at) => (
        <path key={at} d={`M${Math.round(xOf(at)) + 0.5} ${headHeight}V${height}`} stroke="var(--line-subtle)" />
      ))}
      {labeledLines({ ...props, lines, offset, due, crowded, nowWidth }).map((at) => (
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
      {due?.within ? (
        <path
          d={`M${due.x} ${headHeight}V${height}`}
          stroke={due.late ? 'var(--failed-solid)' : 'var(--warning-solid)'}
          strokeWidth="1.5"
          strokeDasharray="4 3"
        />
      ) : null}
      <path d={`M${present} ${headHeight - 2}V${height}`} stroke="var(--text)" strokeWidth="1.5" />
      <text
        {...text}
        x={crowded ? present - 3 : present}
        textAnchor={crowded ? 'end' : 'middle'}
        fill="var(--text)"
        className="text-11 font-semibold select-none"
      >
        {t('now')}
      </text>
      {due === null ? null : (
        <text
          {...text}
          x={crowded && !due.late ? width : due.textX}
          textAnchor={crowded && !due.late ? 'end' : 'middle'}
          fill={due.late ? 'var(--failed-text)' : 'var(--warning-text)'}
          className="text-11 font-medium tabular-nums select-none"
        >
          {due.words}
        </text>
      )}
    </g>
  );
}

const text = { y: 12, textAnchor: 'middle', className: 'text-11 tabular-nums select-none' } as const;

/** Estimates the width of a text in pixels without measuring it. */
const widthOf = (words: string): number => words.length * 6;

interface Due {
  x: number;
  /** Whether the deadline has passed. */
  late: boolean;
  /** Whether the axis includes the deadline. */
  within: boolean;
  words: string;
  textX: number;
  textWidth: number;
}

/**
 * Returns the next or last deadline and its label; null if there is no deadline, or if the deadline is before the start
 * of the axis.
 */
function useDue(
  { range, now, deadline, width, xOf }: AxisFrameProps,
  clock: (at: number) => string,
  narrow: boolean,
): Due | null {
  const { t } = useTranslation('timeline');
  const { from, to } = domainOf(range, now);
  if (deadline === null || deadline <= from) return null;
  const present = xOf(now);
  const x = xOf(deadline);
  const late = deadline <= now;
  const within = deadline <= to;
  const time = `${clock(deadline)}${within || narrow ? '' : ' →'}`;
  const words = narrow ? time : t(late ? 'deadline.past' : 'deadline', { time });
  const textWidth = widthOf(words);
  const nowWidth = widthOf(t('now'));
  // Centers the label on its line, but keeps it inside the axis and apart from the label of the current time.
  const textX = late
    ? Math.min(Math.max(x, textWidth / 2), present - textWidth / 2 - nowWidth)
    : Math.min(Math.max(x, present + nowWidth / 2 + 8 + textWidth / 2), width - textWidth / 2);
  return { x, late, within, words, textX, textWidth };
}

interface LabeledLinesInput extends AxisFrameProps {
  lines: readonly number[];
  offset(at: number): number;
  due: Due | null;
  crowded: boolean;
  nowWidth: number;
}

/** Returns the grid lines that have enough space for a time label. */
function labeledLines({ range, now, lines, xOf, offset, due, crowded, nowWidth }: LabeledLinesInput): number[] {
  const { from, to } = domainOf(range, now);
  const [first, second] = lines;
  const every = Math.max(1, Math.ceil(58 / Math.max(1, xOf(second ?? to) - xOf(first ?? from))));
  const present = xOf(now);
  return lines
    .filter((at) => ((at + offset(at)) / (second && first ? second - first : 1)) % every === 0 || every === 1)
    .filter((at) => xOf(at) > 14 && xOf(at) < present - (crowded ? nowWidth + 14 : nowWidth / 2) - 20)
    .filter((at) => !due?.late || Math.abs(xOf(at) - due.textX) > due.textWidth / 2 + 20);
}

/** Returns a function that formats a time on the axis, or a day if the range spans several days. */
function useClock(range: Range, timeZone: string): (at: number) => string {
  const { i18n } = useTranslation();
  const locale = useDateLocale(i18n.language);
  return useMemo(() => {
    const byDay = range === '7d';
    const format = new Intl.DateTimeFormat(locale, {
      timeZone,
      ...(byDay ? { weekday: 'short', day: 'numeric' } : { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
    });
    return (at) => format.format(at);
  }, [locale, range, timeZone]);
}
