import type { ReactNode } from 'react';
import { cn } from './cn.ts';

/**
 * The eight statuses that the portal shows. Domain states map to them; the label next to an icon may be more specific.
 */
export const statuses = [
  'healthy',
  'progressing',
  'warning',
  'failed',
  'unresponsive',
  'unknown',
  'waiting',
  'disabled',
] as const;
export type StatusName = (typeof statuses)[number];

const ring = <circle cx="8" cy="8" r="6.25" fill="none" stroke="currentColor" strokeWidth="1.5" />;
const cut = { stroke: 'var(--cut)', strokeWidth: 1.75, strokeLinecap: 'round', fill: 'none' } as const;
const line = {
  stroke: 'currentColor',
  strokeWidth: 1.6,
  strokeLinecap: 'round',
  strokeLinejoin: 'round',
  fill: 'none',
} as const;

/** The shapes of icons: one for each status, and two for states of executions that share a status with another state. */
export type IconShape = StatusName | 'clock' | 'person';

/** Each shape is recognizable without its color. */
const drawings: Readonly<Record<IconShape, ReactNode>> = {
  healthy: (
    <>
      {ring}
      <path d="M5.2 8.3 7.1 10.2 10.8 6" {...line} />
    </>
  ),
  progressing: (
    <>
      {ring}
      <path d="M8 4a4 4 0 0 1 0 8z" fill="currentColor" />
    </>
  ),
  warning: (
    <>
      <path
        d="M6.9 2.1 1.1 12.4A1.25 1.25 0 0 0 2.2 14.3h11.6a1.25 1.25 0 0 0 1.1-1.9L9.1 2.1a1.26 1.26 0 0 0-2.2 0z"
        fill="currentColor"
      />
      <path d="M8 6.1v3.1M8 11.7v.05" {...cut} />
    </>
  ),
  failed: (
    <>
      <path d="M5.2 1.1h5.6l4.1 4.1v5.6l-4.1 4.1H5.2l-4.1-4.1V5.2z" fill="currentColor" />
      <path d="m5.9 5.9 4.2 4.2M10.1 5.9l-4.2 4.2" {...cut} />
    </>
  ),
  unresponsive: (
    <>
      <path d="M8 .7 15.3 8 8 15.3.7 8z" fill="currentColor" />
      <path d="M5 8h6" {...cut} />
    </>
  ),
  unknown: (
    <>
      <circle cx="8" cy="8" r="6.25" fill="none" stroke="currentColor" strokeWidth="1.5" strokeDasharray="2.3 2.06" />
      <path d="M6.5 6.7a1.55 1.55 0 1 1 2.3 1.35c-.5.3-.8.6-.8 1.1M8 11.15v.05" {...line} strokeWidth={1.5} />
    </>
  ),
  waiting: (
    <>
      <path d="M4 1.8h8M4 14.2h8M5 1.8v2L8 8l3-4.200v-2M5 14.200v-2L8 8l3 4.200v2" {...line} />
      <path d="M6.1 13.5 8 11.100l1.9 2.400z" fill="currentColor" />
    </>
  ),
  disabled: (
    <>
      {ring}
      <path d="m3.7 12.3 8.6-8.6" {...line} strokeLinecap="butt" />
    </>
  ),
  clock: (
    <>
      <circle cx="8" cy="8" r="7" fill="currentColor" />
      <path d="M8 4.2V8l2.7 1.7" {...cut} />
    </>
  ),
  person: (
    <>
      <circle cx="6.5" cy="5" r="2.7" fill="none" stroke="currentColor" strokeWidth="1.5" />
      <path d="M1.7 14c.3-2.7 2.2-4.3 4.8-4.3 1 0 1.9.2 2.6.6M9.8 12.6l1.6 1.6 3.1-3.6" {...line} />
    </>
  ),
};

export interface StatusIconProps {
  status: StatusName;
  /** The shape, if it is not the one of the status. */
  shape?: IconShape | undefined;
  /** Accessible name, if there is no label next to the icon. */
  label?: string;
  className?: string;
}

/** The shape of a status, 14 px. Without a `label` it is decorative, so put text next to it. */
export function StatusIcon({ status, shape = status, label, className }: StatusIconProps) {
  return (
    // biome-ignore lint/a11y/noSvgWithoutTitle: the icon is hidden, or aria-label names it
    <svg
      data-st={status}
      viewBox="0 0 16 16"
      className={cn('inline-block size-3.5 shrink-0 text-st-solid', className)}
      {...(label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label })}
    >
      {drawings[shape]}
    </svg>
  );
}
