import { Cog } from 'lucide-react';
import type { Drawn, DrawnVerdict } from './axis-events.ts';

/** Ids of the SVG patterns of one axis, by the state that each shows. */
export type Hatchings = Readonly<Record<'progressing' | 'waiting' | 'stale' | 'unknown' | 'unresponsive', string>>;

export const hatchingsOf = (prefix: string): Hatchings => ({
  progressing: `${prefix}progressing`,
  waiting: `${prefix}waiting`,
  stale: `${prefix}stale`,
  unknown: `${prefix}unknown`,
  unresponsive: `${prefix}unresponsive`,
});

/**
 * The SVG patterns: blue stripes while running, gray stripes while waiting, amber stripes if stale; dots if the health
 * is unknown, crosses if the agent is unresponsive.
 */
export function HatchingDefs({ ids }: { ids: Hatchings }) {
  const stripes = (id: string, size: number, back: string, front: string, width: number) => (
    <pattern id={id} width={size} height={size} patternUnits="userSpaceOnUse" patternTransform="rotate(25)">
      <rect width={size} height={size} fill={back} />
      <rect width={width} height={size} fill={front} />
    </pattern>
  );
  return (
    <defs>
      {stripes(ids.progressing, 9, 'var(--axis-run)', 'var(--progressing-solid)', 5)}
      {stripes(ids.waiting, 7, 'var(--surface)', 'var(--axis-wait)', 3)}
      {stripes(ids.stale, 6, 'var(--warning-tint)', 'var(--warning-solid)', 2)}
      <pattern id={ids.unknown} width="5" height="6" patternUnits="userSpaceOnUse">
        <rect width="5" height="6" fill="var(--unknown-tint)" />
        <circle cx="2.5" cy="3" r="1" fill="var(--unknown-solid)" />
      </pattern>
      <pattern id={ids.unresponsive} width="6" height="6" patternUnits="userSpaceOnUse">
        <rect width="6" height="6" fill="var(--unresponsive-tint)" />
        <path d="M0 0l6 6M6 0L0 6" stroke="var(--unresponsive-solid)" strokeWidth="1.2" fill="none" />
      </pattern>
    </defs>
  );
}

const barHeight = 12;

/** A period of health, as a bar centered on `y`. */
export function HealthBar({
  drawn,
  x,
  y,
  width,
  hatchings,
}: {
  drawn: Drawn;
  x: number;
  y: number;
  width: number;
  hatchings: Hatchings;
}) {
  if (drawn === 'unrecorded') {
    return <path d={`M${x} ${y}h${width}`} stroke="var(--line-control)" strokeDasharray="1 4" strokeWidth="1.5" />;
  }
  if (drawn === 'disabled') {
    return <path d={`M${x} ${y}h${width}`} stroke="var(--disabled-solid)" strokeWidth="2" />;
  }
  const box = { x, y: y - barHeight / 2, width, height: barHeight, rx: 2 };
  const inner = { x: x + 0.5, y: box.y + 0.5, width: Math.max(1, width - 1), height: barHeight - 1, rx: 1.5 };
  switch (drawn) {
    case 'healthy':
      return <rect {...box} fill="var(--healthy-line)" />;
    case 'failed':
      return <rect {...box} fill="var(--failed-solid)" />;
    case 'warning':
      return <rect {...box} fill="var(--axis-warning)" />;
    case 'progressing':
      return <rect {...box} fill={`url(#${hatchings.progressing})`} />;
    case 'waiting':
      return <rect {...inner} fill={`url(#${hatchings.waiting})`} stroke="var(--line-control)" />;
    case 'stale':
      return <rect {...inner} fill={`url(#${hatchings.stale})`} stroke="var(--warning-solid)" />;
    case 'unknown':
      return <rect {...inner} fill={`url(#${hatchings.unknown})`} stroke="var(--unknown-line)" />;
    case 'unresponsive':
      return <rect {...inner} fill={`url(#${hatchings.unresponsive})`} stroke="var(--unresponsive-solid)" />;
  }
}

/**
 * A goal state, as a diamond; with a hole if a rollout published it. If several goal states are in one place, a second
 * diamond is behind it.
 */
export function Diamond({ x, y, several, isStep }: { x: number; y: number; several: boolean; isStep: boolean }) {
  const shape = (at: number) => `M${at} ${y - 6}l6 6-6 6-6-6z`;
  return (
    <g stroke="var(--surface)" strokeWidth="1.5" strokeLinejoin="round">
      {several ? <path d={shape(x - 4)} fill="var(--brand-line)" /> : null}
      <path d={shape(x)} fill="var(--brand)" />
      {isStep ? <circle cx={x} cy={y} r="1.9" fill="var(--surface)" stroke="none" /> : null}
    </g>
  );
}

interface DiscProps {
  x: number;
  y: number;
  /** The initials of the person; null for the portal. */
  initials: string | null;
  several: boolean;
}

/** An action, as a disc with the person's initials. If several actions are in one place, a second disc is behind it. */
export function Disc({ x, y, initials, several }: DiscProps) {
  return (
    <g>
      {several ? <circle cx={x - 3} cy={y} r="9" fill="var(--line-control)" stroke="var(--surface)" /> : null}
      <circle cx={x} cy={y} r="9" fill="var(--press)" stroke="var(--surface)" strokeWidth="1.5" />
      {initials === null ? (
        <Cog aria-hidden x={x - 5.5} y={y - 5.5} width="11" height="11" stroke="var(--text)" />
      ) : null}
      <text
        x={x}
        y={y + 3}
        textAnchor="middle"
        fill="var(--text)"
        className="pointer-events-none text-[8.5px] font-semibold select-none"
      >
        {initials}
      </text>
    </g>
  );
}

const tickHeights = { healthy: 12, warning: 12, unknown: 6, unresponsive: 3 } as const;

/** A heartbeat, as a tick: tall if its verdict was ready or not ready, shorter if unknown, shortest if unresponsive. */
export function HeartbeatTick({ drawn, x, y }: { drawn: DrawnVerdict; x: number; y: number }) {
  const height = tickHeights[drawn];
  const fill = drawn === 'healthy' ? 'var(--healthy-map)' : `var(--${drawn}-solid)`;
  return <rect x={x - 1.5} y={y + 6 - height} width="3" height={height} rx="1" fill={fill} />;
}
