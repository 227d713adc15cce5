'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { faultAt } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { CopyCommand } from '#app/_ui/copy.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { ConfirmationDialog } from '#app/(auth)/second-factor/confirmation-dialog.tsx';
import { FormDialog } from '../form-dialog.tsx';
import { type RoleChoice, RoleFields } from '../role-fields.tsx';
import { ShownOnceDialog } from '../shown-once-dialog.tsx';
import { useNewNamespace } from '../use-new-namespace.ts';

const day = 24 * 60 * 60 * 1000;
const lives = ['7', '30', '90', '365', 'never'] as const;

const firstChoice: RoleChoice = { role: 'publisher', namespaces: [], added: undefined, scripts: false };

/** Creates a token and shows it only once, with a command that tries it. */
export function CreateTokenDialog({ portalUrl, onClose }: { portalUrl: string; onClose(): void }) {
  const { t } = useTranslation(['settings', 'common']);
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const [name, setName] = useState('');
  const [choice, setChoice] = useState(firstChoice);
  const [life, setLife] = useState<string>('90');
  const [wasTried, setTried] = useState(false);
  const create = useMutation(
    trpc.tokens.create.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries(trpc.tokens.pathFilter()),
    }),
  );
  const { creation, saveAfter } = useNewNamespace(choice, setChoice);
  const error = creation.error ?? create.error;
  const problem = error === null ? undefined : explain(error);
  const nameError =
    wasTried && name.trim() === '' ? t('settings:tokens.create.name.missing') : faultAt(problem, '/name');

  if (problem?.code === 'confirmation_required') {
    return (
      <ConfirmationDialog
        why={t('settings:tokens.create.confirm')}
        onDone={() => create.variables === undefined || create.mutate(create.variables)}
        onClose={onClose}
      />
    );
  }
  if (create.data !== undefined) {
    const { value } = create.data;
    return (
      <ShownOnceDialog
        title={t('settings:tokens.created.title', { name })}
        description={t('settings:tokens.created.why')}
        value={value}
        onClose={onClose}
      >
        <p className="text-12 text-ink-2">{t('settings:tokens.created.try')}</p>
        <CopyCommand command={`curl -H 'Authorization: Bearer ${value}' ${portalUrl}/api/v1/vms`} />
      </ShownOnceDialog>
    );
  }
  return (
    <FormDialog
      title={t('settings:tokens.create.title')}
      act={t('settings:tokens.create.act')}
      busy={creation.isPending || create.isPending}
      onEdit={() => {
        forgetError(creation);
        forgetError(create);
      }}
      onSubmit={() => {
        setTried(true);
        if (name.trim() === '') return;
        const expiresAt = life === 'never' ? null : new Date(Date.now() + Number(life) * day);
        const { role, scripts } = choice;
        saveAfter((namespaces) => create.mutate({ name, role, namespaces, scripts, expiresAt }));
      }}
      onClose={onClose}
      error={problem?.message}
    >
      <Field label={t('settings:name')} hint={t('settings:tokens.create.name.hint')} error={nameError}>
        <Input autoComplete="off" maxLength={100} value={name} onChange={(event) => setName(event.target.value)} />
      </Field>
      <RoleFields
        value={choice}
        onChange={setChoice}
        error={faultAt(problem, '/namespaces') ?? faultAt(problem, '/namespace')}
      />
      <Field label={t('settings:tokens.create.expiry')} error={faultAt(problem, '/expiresAt')}>
        <Select
          value={life}
          onChange={(event) => setLife(event.target.value)}
          options={lives.map((value) => ({ value, label: t(`settings:tokens.create.expiry.${value}`) }))}
        />
      </Field>
    </FormDialog>
  );
}
