'use client';

import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { healthAt, unpackCells } from './cells.ts';
import { type FleetMap, groupAddress, healthsShown, useGroup, useGroupName } from './groups.ts';

/**
 * The map as a table: one row per group, one column per health. A number links to the VMs that it counts.
 */
export function FleetTable({ map }: { map: FleetMap }) {
  const { t } = useTranslation(['overview', 'reports']);
  const format = useFormat();
  const groupOf = useGroup();
  const groupName = useGroupName();
  const healths = healthsShown(map);
  return (
    <TableFrame label={t('overview:map.table')}>
      <Table>
        <THead>
          <tr>
            <Th>{groupName(map.groupBy)}</Th>
            <Th end>{t('overview:map.vms')}</Th>
            {healths.map((health) => (
              <Th key={health} end>
                {t(`reports:health.${health}`)}
              </Th>
            ))}
          </tr>
        </THead>
        <TBody>
          {map.groups.map((group) => {
            const name = groupOf(map, group);
            const href = groupAddress(map, group);
            const counts = countHealths(unpackCells(group.cells, group.count));
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
                {healths.map((health) => {
                  const count = counts.get(health) ?? 0;
                  const figure = format.number(count);
                  return (
                    <Td key={health} end className={count === 0 ? 'text-ink-3' : undefined}>
                      <span className="inline-flex items-center gap-1.5">
                        {count > 0 && health !== 'healthy' ? <StatusIcon status={statusOfHealth[health]} /> : null}
                        {count > 0 ? (
                          <TextLink href={groupAddress(map, group, health)} prefetch={false} data-count={count}>
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

function countHealths(cells: Uint8Array): Map<string, number> {
  const counts = new Map<string, number>();
  for (const cell of cells) {
    const health = healthAt(cell);
    counts.set(health, (counts.get(health) ?? 0) + 1);
  }
  return counts;
}
