import Link from 'next/link';
import { useFormat } from '#app/_ui/format.ts';
import { type FleetMap, groupAddress, useGroup } from './groups.ts';

/** The header above a group of tiles: its name and its size. */
export function TileGroupHead({ map, group }: { map: FleetMap; group: FleetMap['groups'][number] }) {
  const format = useFormat();
  const name = useGroup()(map, group);
  const href = groupAddress(map, group);
  return (
    <p className="mb-1.5 flex min-w-0 gap-x-1.5 text-12 text-ink-3 tabular-nums">
      <Link
        href={href}
        prefetch={false}
        data-count={group.count}
        className="truncate rounded-xs font-medium text-ink hover:underline"
      >
        {name}
      </Link>
      <span>{format.number(group.count)}</span>
    </p>
  );
}
