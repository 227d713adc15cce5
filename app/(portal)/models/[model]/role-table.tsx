'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Table, TableFrame, TBody, THead, Th } from '#app/_ui/table.tsx';
import type { ModelAct } from './model-acts.ts';
import type { RoleLine } from './role-lines.ts';
import { RoleRow } from './role-row.tsx';

export interface RoleTableProps {
  label: string;
  lines: readonly RoleLine[];
  /** Whether the roles belong to several cloud services, which a column then names. */
  hasServices?: boolean;
  onAct(act: ModelAct): void;
}

/** Roles with their machines, addresses, ports and agents. */
export function RoleTable({ label, lines, hasServices = false, onAct }: RoleTableProps) {
  const { t } = useTranslation('models');
  const may = useReader().can('operator');
  const hasTraffic = lines.some(({ ports }) => ports.some(({ traffic }) => traffic !== null));
  return (
    <TableFrame label={label}>
      <Table>
        <THead>
          <tr>
            <Th className="w-1/3 max-sm:w-full">{t('role.machine')}</Th>
            {hasServices ? <Th className="max-md:hidden">{t('role.service')}</Th> : null}
            <Th className={hasServices ? 'max-xl:hidden' : 'max-md:hidden'}>{t('role.instance')}</Th>
            <Th className="max-sm:hidden">{t('role.address')}</Th>
            <Th className="max-lg:hidden">{t('role.ports')}</Th>
            {hasTraffic ? (
              <Th end className={hasServices ? 'max-lg:hidden' : 'max-xl:hidden'}>
                {t('role.connections')}
              </Th>
            ) : null}
            <Th className="max-sm:hidden">{t('role.agent')}</Th>
            {may ? (
              <Th className="w-10">
                <span className="sr-only">{t('role.acts')}</span>
              </Th>
            ) : null}
          </tr>
        </THead>
        <TBody>
          {lines.map((line) => (
            <RoleRow
              key={line.role.vmId}
              line={line}
              hasServices={hasServices}
              hasTraffic={hasTraffic}
              onAct={may ? onAct : undefined}
            />
          ))}
        </TBody>
      </Table>
    </TableFrame>
  );
}
