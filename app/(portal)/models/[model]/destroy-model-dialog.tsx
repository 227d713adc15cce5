'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Checkbox } from '#app/_ui/checkbox.tsx';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { ControlRow } from '#app/_ui/field.tsx';
import { Name } from '#app/_ui/name.tsx';
import { destroyedParts, usePart } from './destruction.tsx';
import type { ModelDialogsProps } from './model-acts.ts';

/** Destroys a model after its name is typed. Lists what is deleted, in order. */
export function DestroyModelDialog({ model, onClose }: Pick<ModelDialogsProps, 'model' | 'onClose'>) {
  const { t } = useTranslation('models');
  const trpc = useTRPC();
  const queries = useQueryClient();
  const explain = useProblem();
  const say = usePart(model);
  const { name, life } = model;
  const isBeingDestroyed = life === 'destroying';
  const [isForced, setForced] = useState(isBeingDestroyed);
  const destroy = useMutation(
    trpc.models.destroy.mutationOptions({
      onSettled: () => queries.invalidateQueries(trpc.models.pathFilter()),
    }),
  );
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={<Trans text={t('destroy.title', { name })} tags={{ name: <Name /> }} />}
      description={t(isForced ? 'destroy.force.why' : 'destroy.why')}
      confirmLabel={t('destroy.act')}
      phrase={name}
      onConfirm={() => destroy.mutateAsync({ model: name, confirm: name, force: isForced })}
      error={destroy.error === null ? undefined : explain(destroy.error).message}
    >
      <ol className="grid list-decimal gap-1 ps-5 text-12 text-ink-2 marker:text-ink-3">
        {destroyedParts.map((part) => (
          <li key={part} className="wrap-anywhere">
            {say(part)}
          </li>
        ))}
      </ol>
      {isBeingDestroyed || model.machines === 0 ? null : (
        <ControlRow
          control={<Checkbox checked={isForced} onCheckedChange={(checked) => setForced(checked === true)} />}
          hint={t('remove.force.hint')}
        >
          {t('destroy.force')}
        </ControlRow>
      )}
    </ConfirmDialog>
  );
}
