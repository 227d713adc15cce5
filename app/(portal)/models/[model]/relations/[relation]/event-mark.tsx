import type { RelationEvent } from '../relation-data.ts';

/** The mark of an event, around the origin, for an SVG. */
export function EventMark({ kind }: Pick<RelationEvent, 'kind'>) {
  if (kind === 'changed') return <circle r="3.5" fill="var(--series-2)" />;
  const color = kind === 'joined' ? 'var(--brand-text)' : 'var(--text-2)';
  return (
    <g fill="none" stroke={color} strokeWidth="1.5" strokeLinecap="round">
      <circle r="5" fill="var(--surface)" />
      <path d={kind === 'joined' ? 'M-2.5 0h5M0-2.500v5' : kind === 'left' ? 'M-2.5 0h5' : 'm-2-2 4 4m0-4-4 4'} />
    </g>
  );
}
