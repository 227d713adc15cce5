'use client';

import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { typeOf } from '#app/(portal)/handlers/handler-name.ts';
import { type FleetMap, groupAddress } from './groups.ts';
import { countMark } from './marks.ts';
import { headHeight } from './place-cells.ts';

export interface GroupHeadProps {
  map: FleetMap;
  group: FleetMap['groups'][number];
  name: string;
  /** The rollout by which the map is colored, and the marks of the group's VMs; null for health. */
  marks: { rollout: string; values: Uint8Array } | null;
  left: number;
  top: number;
  width: number;
}

/** Below this width in pixels, an icon replaces each number's label. Screen readers still read the label. */
const roomForWords = 220;
/** Below this width in pixels, the total is hidden if there are both failed and unresponsive VMs. */
const roomForAll = 190;

/** The header above a group's cells: its name, its size, and the numbers of failed and unresponsive VMs. */
export function GroupHead({ map, group, name, marks, left, top, width }: GroupHeadProps) {
  const { t } = useTranslation('overview');
  const format = useFormat();
  const troubles = troublesOf(map, group, marks).filter(({ count }) => count > 0);
  const href = groupAddress(map, group);
  const isHandler = map.groupBy === 'handler' && group.key !== null;
  // A handler is named by its type, unless another handler has the same type.
  const isShort = isHandler && map.groups.filter(({ key }) => typeOf(key ?? '') === typeOf(name)).length === 1;
  return (
    <p
      className="absolute flex gap-x-1.5 overflow-hidden text-12 whitespace-nowrap text-ink-3 tabular-nums"
      style={{ left, top, width, height: headHeight - 4 }}
    >
      <Link
        href={href}
        prefetch={false}
        data-count={group.count}
        title={name}
        // Cuts long names at the beginning, because names of one publisher's handlers differ only at the end.
        className={cn(
          'min-w-12 shrink truncate rounded-xs font-medium text-ink hover:underline',
          isHandler && !isShort && '[direction:rtl]',
        )}
      >
        {isHandler ? <bdi dir="ltr">{isShort ? typeOf(name) : name}</bdi> : name}
      </Link>
      {width >= roomForAll || troubles.length < 2 ? <span>{format.number(group.count)}</span> : null}
      {troubles.map(({ status, count, text, href }) => {
        const shown = format.number(count);
        const words = t(text, { count, shown });
        const label =
          width >= roomForWords ? (
            words
          ) : (
            <>
              <StatusIcon status={status} className="size-3" />
              <span aria-hidden>{shown}</span>
              <span className="sr-only">{words}</span>
            </>
          );
        return (
          <Link
            key={status}
            href={href}
            prefetch={false}
            data-count={count}
            title={words}
            className="inline-flex items-center gap-0.5 rounded-xs text-ink-2 hover:underline"
          >
            {label}
          </Link>
        );
      })}
    </p>
  );
}

/** Returns the numbers that need attention, with links to their VMs: by health, or by the state in a rollout. */
function troublesOf(map: FleetMap, group: GroupHeadProps['group'], marks: GroupHeadProps['marks']) {
  if (marks === null) {
    return [
      { status: 'failed' as const, count: group.failed, text: 'map.failedHere' as const },
      { status: 'unresponsive' as const, count: group.unresponsive, text: 'map.silentHere' as const },
    ].map((trouble) => ({ ...trouble, href: groupAddress(map, group, trouble.status) }));
  }
  const { rollout, values } = marks;
  return [
    { status: 'failed' as const, mark: 'failed' as const, text: 'map.failedHere' as const },
    { status: 'waiting' as const, mark: 'parked' as const, text: 'map.parkedHere' as const },
  ].map(({ mark, ...trouble }) => ({
    ...trouble,
    count: countMark(values, mark),
    href: groupAddress(map, group, undefined, { rollout, step: [mark] }),
  }));
}
