'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Checkbox } from '#app/_ui/checkbox.tsx';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { ControlRow } from '#app/_ui/field.tsx';
import type { NamedUnit, ShownUnitDetails } from '../unit-data.ts';

export interface UnitRemovalProps {
  name: NamedUnit;
  unit: ShownUnitDetails;
  onClose(): void;
}

/** Removes a unit. If it is being removed already, removes it without waiting for its agent. */
export function RemoveUnitDialog({ name: { model, unit: name }, unit, onClose }: UnitRemovalProps) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const queries = useQueryClient();
  const explain = useProblem();
  const isLeaving = unit.life === 'dying';
  const [isForced, setForced] = useState(isLeaving);
  const remove = useMutation(
    trpc.units.remove.mutationOptions({ onSettled: () => queries.invalidateQueries(trpc.units.pathFilter()) }),
  );
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('unit.remove.title', { unit: name })}
      description={t(isForced ? 'unit.remove.force.why' : 'unit.remove.why')}
      confirmLabel={t(isForced ? 'unit.act.removeForce' : 'unit.remove.confirm')}
      onConfirm={() => remove.mutateAsync({ model, unit: name, force: isForced })}
      error={remove.error === null ? undefined : explain(remove.error).message}
    >
      {isLeaving ? null : (
        <ControlRow
          control={<Checkbox checked={isForced} onCheckedChange={(checked) => setForced(checked === true)} />}
          hint={t('unit.remove.force.hint')}
        >
          {t('unit.remove.force')}
        </ControlRow>
      )}
    </ConfirmDialog>
  );
}
