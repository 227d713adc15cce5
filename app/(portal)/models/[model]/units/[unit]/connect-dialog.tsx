'use client';

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { CopyCommand } from '#app/_ui/copy.tsx';
import { Dialog } from '#app/_ui/dialog.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import type { NamedUnit } from '../unit-data.ts';

export interface ConnectDialogProps {
  name: NamedUnit;
  onClose(): void;
}

/** The command that connects to the machine of a unit, by an address that only this machine has. */
export function ConnectDialog({ name: { model, unit }, onClose }: ConnectDialogProps) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const { data, error, refetch } = useQuery({ ...trpc.units.connect.queryOptions({ model, unit }), retry: false });
  return (
    <Dialog
      open
      size="wide"
      onOpenChange={onClose}
      title={t('unit.connect.title', { unit })}
      description={
        data === undefined ? undefined : t('unit.connect.why', { address: data.address, through: data.through })
      }
    >
      {data === undefined ? (
        error === null ? (
          <SkeletonRows columns={['w-64']} rows={2} label={t('unit.connect.loading')} />
        ) : (
          <QueryError title={t('unit.connect.failed')} error={error} onRetry={refetch} />
        )
      ) : (
        <CopyCommand whole command={data.command} />
      )}
    </Dialog>
  );
}
