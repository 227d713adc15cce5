'use client';

import { useMutation } from '@tanstack/react-query';
import { Hash, Unplug } from 'lucide-react';
import { Fragment, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { WordsOnDemand } from '#app/_lib/i18n/words-on-demand.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Checkbox } from '#app/_ui/checkbox.tsx';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { ControlRow } from '#app/_ui/field.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { unitHref } from '#app/(portal)/models/[model]/services/service-data.ts';
import type { ShownVmUnit } from '../units/hook-entries.ts';
import { useVmUnits } from '../units/use-vm-units.ts';
import type { VmFacts } from '../vm-data.ts';
import { ThenList } from './then-list.tsx';
import { useInvalidateRole } from './use-invalidate-role.ts';

interface GiveBackDialogProps {
  facts: Pick<VmFacts, 'id' | 'name' | 'role'>;
  onClose(): void;
}

/** Gives back a VM that a model adopted. Says what ends, and what stays. */
export function GiveBackDialog({ facts: { id, name, role }, onClose }: GiveBackDialogProps) {
  // Somebody else may have given back the VM meanwhile.
  if (role === null) return null;
  return (
    <WordsOnDemand namespaces={['services']} onFailed={onClose}>
      <GiveBackQuestion vmId={id} vm={name} role={role} onClose={onClose} />
    </WordsOnDemand>
  );
}

interface GiveBackQuestionProps {
  vmId: string;
  vm: string;
  role: NonNullable<VmFacts['role']>;
  onClose(): void;
}

function GiveBackQuestion({ vmId, vm, role, onClose }: GiveBackQuestionProps) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const explain = useProblem();
  const [isForced, setForced] = useState(false);
  const units = useVmUnits(vmId, true).data?.items ?? [];
  const { model, machine, cloudService: service } = role;
  const remove = useMutation(
    trpc.models.removeMachine.mutationOptions({
      onSuccess: () => toast(t('giveBack.begun', { vm })),
      onSettled: useInvalidateRole(),
    }),
  );
  return (
    <ConfirmDialog
      open
      tone={isForced ? 'danger' : 'default'}
      onOpenChange={onClose}
      title={t('giveBack.title', { vm })}
      description={t('giveBack.why', { model })}
      confirmLabel={t('giveBack.act')}
      onConfirm={() => remove.mutateAsync({ model, machine, force: isForced })}
      error={remove.error === null ? undefined : explain(remove.error).message}
    >
      <ThenList
        items={[
          { icon: <Unplug aria-hidden />, text: t('giveBack.then.service', { machine, service }) },
          { icon: <Hash aria-hidden />, text: t('giveBack.then.number') },
        ]}
      />
      {units.length === 0 ? null : (
        <>
          <UnitsBefore units={units} />
          <ControlRow
            control={<Checkbox checked={isForced} onCheckedChange={(checked) => setForced(checked === true)} />}
            hint={t('giveBack.force.hint', { count: units.length })}
          >
            {t('giveBack.force', { count: units.length })}
          </ControlRow>
        </>
      )}
    </ConfirmDialog>
  );
}

/** The units that must leave first. */
function UnitsBefore({ units }: { units: readonly ShownVmUnit[] }) {
  const { t } = useTranslation('services');
  return (
    <p className="text-pretty text-ink-2">
      {t('giveBack.units', { count: units.length })}{' '}
      {units.map(({ model, unit }, index) => (
        <Fragment key={unit}>
          {index === 0 ? null : ', '}
          <TextLink href={unitHref(model, unit)} prefetch={false} translate="no">
            {unit}
          </TextLink>
        </Fragment>
      ))}
      . {t('giveBack.units.first', { count: units.length })}
    </p>
  );
}
