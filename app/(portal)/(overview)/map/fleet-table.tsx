'use client';

import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon, type StatusName } from '#app/_ui/status-icon.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { countsOfMark, stepMarkLetters, stepMarks } from '#server/domain/rollout-rules/step-marks.ts';
import { healthAt, unpackCells } from './cells.ts';
import { type FleetMap, groupAddress, healthsShown, useGroup, useGroupName } from './groups.ts';
import { statusOfMark } from './looks.ts';
import { countMark } from './marks.ts';
import type { MapStates } from './use-rollout-map.ts';

/**
 * The map as a table: one row per group, one column per health or state in a rollout. A number links to the VMs that it counts.
 */
export function FleetTable({ map, colors }: { map: FleetMap; colors: MapStates | null }) {
  const { t } = useTranslation(['overview', 'reports']);
  const format = useFormat();
  const groupOf = useGroup();
  const groupName = useGroupName();
  const columns = useColumns(map, colors);
  return (
    <TableFrame label={t('overview:map.table')}>
      <Table>
        <THead>
          <tr>
            <Th>{groupName(map.groupBy)}</Th>
            <Th end>{t('overview:map.vms')}</Th>
            {columns.map(({ key, word }) => (
              <Th key={key} end>
                {word}
              </Th>
            ))}
          </tr>
        </THead>
        <TBody>
          {map.groups.map((group, index) => {
            const name = groupOf(map, group);
            const href = groupAddress(map, group);
            return (
              <Tr key={JSON.stringify([group.key, group.rest])}>
                <Td className="font-medium">
                  <TextLink href={href} prefetch={false} data-count={group.count}>
                    {name}
                  </TextLink>
                </Td>
                <Td end>
                  <TextLink href={href} prefetch={false} data-count={group.count}>
                    {format.number(group.count)}
                  </TextLink>
                </Td>
                {columns.map(({ key, status, countIn, hrefOf }) => {
                  const count = countIn(index);
                  const figure = format.number(count);
                  const link = hrefOf(group);
                  return (
                    <Td key={key} end className={count === 0 ? 'text-ink-3' : undefined}>
                      <span className="inline-flex items-center gap-1.5">
                        {count > 0 && status !== 'healthy' ? <StatusIcon status={status} /> : null}
                        {count > 0 && link !== null ? (
                          <TextLink href={link} prefetch={false} data-count={count}>
                            {figure}
                          </TextLink>
                        ) : (
                          figure
                        )}
                      </span>
                    </Td>
                  );
                })}
              </Tr>
            );
          })}
        </TBody>
      </Table>
    </TableFrame>
  );
}

interface Column {
  key: string;
  word: string;
  status: StatusName;
  /** Returns the number of VMs in a group, by the group's position. */
  countIn(group: number): number;
  /** Returns the URL of these VMs; null if no filter describes them. */
  hrefOf(group: FleetMap['groups'][number]): string | null;
}

/** Returns one column for each health or, if the map is colored by a rollout, for each state in it. */
function useColumns(map: FleetMap, colors: MapStates | null): Column[] {
  const { t } = useTranslation(['overview', 'reports']);
  if (colors === null) {
    const cells = map.groups.map((group) => unpackCells(group.cells, group.count));
    return healthsShown(map).map((health) => ({
      ...{ key: health, word: t(`reports:health.${health}`), status: statusOfHealth[health] },
      countIn: (group) => (cells[group] ?? new Uint8Array()).filter((cell) => healthAt(cell) === health).length,
      hrefOf: (group) => groupAddress(map, group, health),
    }));
  }
  const { groups, rollout } = colors;
  const cells = map.groups.map(({ count }, index) => unpackCells(groups[index] ?? '', count, stepMarkLetters));
  return stepMarks.map((mark) => ({
    ...{ key: mark, word: t(`overview:mark.${mark}`), status: statusOfMark(mark) },
    countIn: (group) => countMark(cells[group] ?? new Uint8Array(), mark),
    hrefOf: (group) =>
      mark === 'none'
        ? null
        : groupAddress(map, group, undefined, { rollout: rollout.id, step: [...countsOfMark[mark]] }),
  }));
}
