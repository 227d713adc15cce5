'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { type ExplainedProblem, faultAt } from '#app/_lib/problem.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { ControlRow, Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { Switch } from '#app/_ui/switch.tsx';
import { FormDialog } from '#app/(portal)/settings/form-dialog.tsx';
import { topologyLimits } from '#server/domain/topology/input.ts';
import { maxModelName } from '#server/domain/topology-rules/names.ts';
import { modelHref, type ShownAccount } from './model-data.ts';

interface Values {
  name: string;
  location: string | null;
  storageAccount: string | null;
  availabilitySetsEnabled: boolean;
}

const noValues: Values = { name: '', location: null, storageAccount: null, availabilitySetsEnabled: true };

/** Creates a model, then opens its page. The location is that of the storage account, unless someone changes it. */
export function CreateModelDialog({ onClose }: { onClose(): void }) {
  const { t } = useTranslation('models');
  const trpc = useTRPC();
  const queries = useQueryClient();
  const router = useRouter();
  const explain = useProblem();
  const accounts = useQuery(trpc.models.storageAccounts.queryOptions());
  const [values, setValues] = useState(noValues);
  const items = accounts.data?.items ?? [];
  const account = items.find(({ name }) => name === values.storageAccount) ?? items[0];
  const create = useMutation(
    trpc.models.create.mutationOptions({
      onSuccess: async ({ name }) => {
        await queries.invalidateQueries(trpc.models.pathFilter());
        router.push(modelHref(name));
      },
    }),
  );
  const problem = create.error === null ? undefined : explain(create.error);
  const isAtField = problem?.faults.some(({ path }) => ['/name', '/location'].includes(path)) === true;
  const location = values.location ?? account?.location ?? '';
  const submit = () => {
    const { name, availabilitySetsEnabled } = values;
    if (account !== undefined) create.mutate({ name, location, storageAccount: account.name, availabilitySetsEnabled });
  };
  return (
    <FormDialog
      title={t('create.title')}
      description={t('create.why')}
      act={t('create.act')}
      busy={create.isPending || create.isSuccess}
      onEdit={() => forgetError(create)}
      onSubmit={submit}
      onClose={onClose}
      error={
        isAtField ? undefined : (problem?.message ?? (accounts.error ? explain(accounts.error).message : undefined))
      }
    >
      {accounts.isSuccess && items.length === 0 ? <NoAccount /> : null}
      <Fields
        values={values}
        location={location}
        accounts={items}
        account={account?.name ?? ''}
        problem={problem}
        onChange={(changed) => setValues({ ...values, ...changed })}
      />
    </FormDialog>
  );
}

/** Says that a model needs a storage account, and who creates one. */
function NoAccount() {
  const { t } = useTranslation('models');
  const isAdmin = useReader().can('admin');
  return (
    <Banner boxed status="warning">
      {t(isAdmin ? 'create.noAccount.admin' : 'create.noAccount')}
    </Banner>
  );
}

interface FieldsProps {
  values: Values;
  location: string;
  accounts: readonly ShownAccount[];
  account: string;
  problem: ExplainedProblem | undefined;
  onChange(changed: Partial<Values>): void;
}

function Fields({ values, location, accounts, account, problem, onChange }: FieldsProps) {
  const { t } = useTranslation('models');
  return (
    <>
      <Field label={t('create.name')} hint={t('create.name.hint')} error={faultAt(problem, '/name')}>
        <Input
          autoFocus
          mono
          required
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          maxLength={maxModelName}
          value={values.name}
          onChange={(event) => onChange({ name: event.target.value })}
        />
      </Field>
      <Field label={t('create.account')} hint={t('create.account.hint')}>
        <Select
          mono
          disabled={accounts.length === 0}
          value={account}
          onChange={(event) => onChange({ storageAccount: event.target.value })}
          options={accounts.map(({ name, location: at }) => ({ value: name, label: `${name} (${at})`, isName: true }))}
        />
      </Field>
      <Field label={t('create.location')} hint={t('create.location.hint')} error={faultAt(problem, '/location')}>
        <Input
          required
          autoComplete="off"
          maxLength={topologyLimits.location}
          value={location}
          onChange={(event) => onChange({ location: event.target.value })}
        />
      </Field>
      <ControlRow
        control={
          <Switch
            checked={values.availabilitySetsEnabled}
            onCheckedChange={(availabilitySetsEnabled) => onChange({ availabilitySetsEnabled })}
          />
        }
        hint={t(values.availabilitySetsEnabled ? 'mode.on.why' : 'mode.off.why')}
      >
        {t('mode')}
      </ControlRow>
    </>
  );
}
