'use client';

import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import type { RingMark } from './ring-marks.ts';

export interface RingMarkLinksProps {
  handler: string;
  marks: readonly RingMark[];
}

/** Number of openings that a mark's tooltip names. */
const named = 4;

/** Marks above the chart at the times when rings of rollouts opened, each with a link to the rollout. */
export function RingMarkLinks({ handler, marks }: RingMarkLinksProps) {
  const { t } = useTranslation('packages');
  const words = useMarkWords();
  if (marks.length === 0) return null;
  return (
    <ul aria-label={t('adoption.rings')} className="absolute inset-0">
      {marks.map((mark) => {
        const [first] = mark.openings;
        const isOne = mark.openings.every(({ rollout }) => rollout.id === first.rollout.id);
        return (
          <li
            key={first.at + first.rollout.id}
            className="pointer-events-none absolute inset-y-0 border-s border-dashed border-brand-line"
            style={{ left: `${mark.share * 100}%` }}
          >
            <Link
              href={isOne ? `/rollouts/${first.rollout.id}` : `/rollouts?handler=${encodeURIComponent(handler)}`}
              prefetch={false}
              title={words(mark)}
              className="pointer-events-auto absolute -top-3 -left-3 grid size-6 place-items-center rounded-xs hover:bg-hover"
            >
              <span className="sr-only">{words(mark)}</span>
              <span
                aria-hidden
                className="size-2 rotate-45 rounded-[1px] bg-brand shadow-[0_0_0_1.5px_var(--surface)]"
              />
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

/** Returns a function that names the rings of a mark, and when they opened. */
function useMarkWords(): (mark: RingMark) => string {
  const { t } = useTranslation('packages');
  const format = useFormat();
  return ({ openings }) => {
    const one = (opening: RingMark['openings'][number]) =>
      t('adoption.ring', {
        rollout: opening.rollout.name,
        ring: opening.ring,
        at: format.dateTime(new Date(opening.at), 'short'),
      });
    if (openings.length === 1) return one(openings[0]);
    const rest = openings.length - named;
    const list = openings.slice(0, named).map(one);
    if (rest > 0) list.push(t('adoption.ringsMore', { count: rest }));
    return t('adoption.ringsHere', { count: openings.length, list: list.join('; ') });
  };
}
