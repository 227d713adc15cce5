'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC, useTRPCClient } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { ControlRow, Field } from '#app/_ui/field.tsx';
import { Select } from '#app/_ui/select.tsx';
import { Switch } from '#app/_ui/switch.tsx';
import { FormDialog } from '#app/(portal)/settings/form-dialog.tsx';
import { topologyLimits } from '#server/domain/topology/input.ts';
import type { ModelDialogsProps } from './model-acts.ts';

const numbers = Array.from({ length: topologyLimits.controllers + 1 }, (_, controllers) => controllers);

/** Bootstraps a model. This is the last moment at which its mode can change. */
export function BootstrapDialog({ model, onAdded, onClose }: Omit<ModelDialogsProps, 'act'>) {
  const { t } = useTranslation('models');
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const explain = useProblem();
  const { name, affinityGroup, network, storageAccount } = model;
  const [controllers, setControllers] = useState(0);
  const [hasSets, setHasSets] = useState(model.availabilitySetsEnabled);
  const bootstrap = useMutation({
    mutationFn: async () => {
      if (hasSets !== model.availabilitySetsEnabled) {
        await client.models.change.mutate({ model: name, availabilitySetsEnabled: hasSets });
      }
      return client.models.bootstrap.mutate({ model: name, controllers });
    },
    onSuccess: ({ newMachines }) => {
      onAdded(newMachines);
      onClose();
    },
    onSettled: () => queries.invalidateQueries(trpc.models.pathFilter()),
  });
  return (
    <FormDialog
      title={t('bootstrap.title', { name })}
      description={t('bootstrap.why', { affinityGroup, network, account: storageAccount })}
      act={t('act.bootstrap')}
      busy={bootstrap.isPending}
      onEdit={() => forgetError(bootstrap)}
      onSubmit={() => bootstrap.mutate()}
      onClose={onClose}
      error={bootstrap.error === null ? undefined : explain(bootstrap.error).message}
    >
      <Field label={t('bootstrap.controllers')} hint={t('bootstrap.controllers.hint')}>
        <Select
          value={String(controllers)}
          onChange={(event) => setControllers(Number(event.target.value))}
          options={numbers.map((count) => ({ value: String(count), label: t('bootstrap.controllers.n', { count }) }))}
        />
      </Field>
      <ControlRow
        control={<Switch checked={hasSets} onCheckedChange={setHasSets} />}
        hint={t(hasSets ? 'mode.on.why' : 'mode.off.why')}
      >
        {t('mode')}
      </ControlRow>
      <p className="text-12 text-ink-2">{t('bootstrap.frozen')}</p>
    </FormDialog>
  );
}
