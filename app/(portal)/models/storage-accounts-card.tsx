'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { faultAt } from '#app/_lib/problem.ts';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { FormDialog } from '#app/(portal)/settings/form-dialog.tsx';
import { topologyLimits } from '#server/domain/topology/input.ts';
import type { ListedModel, ShownAccount } from './model-data.ts';

const DeleteAccountDialog = dynamic(
  () => import('./delete-account-dialog.tsx').then((module) => module.DeleteAccountDialog),
  { ssr: false },
);

export interface StorageAccountsCardProps {
  /** What the server read at `readAt`; undefined if it could not. */
  first: { items: ShownAccount[] } | undefined;
  readAt: number;
  /** All models, each with the name of its storage account. */
  models: readonly Pick<ListedModel, 'storageAccount'>[];
}

/** The storage accounts, which only admins create and delete. */
export function StorageAccountsCard({ first, readAt, models }: StorageAccountsCardProps) {
  const { t } = useTranslation('models');
  const trpc = useTRPC();
  const [isCreating, setCreating] = useState(false);
  const [deleted, setDeleted] = useState<string>();
  const accounts = useQuery({
    ...trpc.models.storageAccounts.queryOptions(),
    ...(first !== undefined && { initialData: first, initialDataUpdatedAt: readAt }),
  });
  return (
    <Card className="mt-4" aria-labelledby="storage-accounts">
      <CardHeader
        id="storage-accounts"
        title={t('accounts.title')}
        actions={
          <Button size="sm" onClick={() => setCreating(true)}>
            <Plus aria-hidden />
            {t('accounts.new')}
          </Button>
        }
      />
      {accounts.error && !accounts.data ? (
        <QueryError title={t('accounts.failed')} error={accounts.error} onRetry={accounts.refetch} />
      ) : accounts.isPending ? (
        <SkeletonRows columns={['w-40', 'w-40']} rows={2} label={t('accounts.loading')} />
      ) : accounts.data.items.length === 0 ? (
        <CardBody className="text-ink-2">{t('accounts.none')}</CardBody>
      ) : (
        <ul>
          {accounts.data.items.map((account) => (
            <Account
              key={account.name}
              account={account}
              models={models.filter(({ storageAccount }) => storageAccount === account.name).length}
              onDelete={() => setDeleted(account.name)}
            />
          ))}
        </ul>
      )}
      {deleted === undefined ? null : <DeleteAccountDialog name={deleted} onClose={() => setDeleted(undefined)} />}
      {isCreating ? <CreateAccountDialog onClose={() => setCreating(false)} /> : null}
    </Card>
  );
}

interface AccountProps {
  account: ShownAccount;
  /** Number of models that use the account. While it is not 0, the account cannot be deleted. */
  models: number;
  onDelete(): void;
}

function Account({ account: { name, location, createdAt, createdBy }, models, onDelete }: AccountProps) {
  const { t } = useTranslation('models');
  return (
    <li className="flex min-h-9 flex-wrap items-baseline gap-x-6 gap-y-0.5 border-t border-line-subtle px-4 py-2">
      <span translate="no" className="mono min-w-40 font-medium">
        {name}
      </span>
      <span translate="no" className="text-ink-2">
        {location}
      </span>
      {models > 0 ? <span className="text-ink-2">{t('accounts.models', { count: models })}</span> : null}
      <span className="ms-auto text-12 text-ink-3 max-sm:ms-0">
        <span translate="no">{createdBy}</span> · <DateTime value={new Date(createdAt)} />
      </span>
      {models > 0 ? null : (
        <Button size="sm" variant="ghost" aria-label={t('accounts.delete.label', { name })} onClick={onDelete}>
          {t('accounts.delete')}
        </Button>
      )}
    </li>
  );
}

function CreateAccountDialog({ onClose }: { onClose(): void }) {
  const { t } = useTranslation('models');
  const trpc = useTRPC();
  const queries = useQueryClient();
  const explain = useProblem();
  const [name, setName] = useState('');
  const [location, setLocation] = useState('');
  const create = useMutation(
    trpc.models.setStorageAccount.mutationOptions({
      onSuccess: async () => {
        await queries.invalidateQueries(trpc.models.storageAccounts.pathFilter());
        onClose();
      },
    }),
  );
  const problem = create.error === null ? undefined : explain(create.error);
  return (
    <FormDialog
      title={t('accounts.create.title')}
      description={t('accounts.create.why')}
      act={t('accounts.create.act')}
      busy={create.isPending}
      onEdit={() => forgetError(create)}
      onSubmit={() => create.mutate({ name, location })}
      onClose={onClose}
      error={problem?.faults.length ? undefined : problem?.message}
    >
      <Field label={t('accounts.create.name')} hint={t('accounts.create.name.hint')} error={faultAt(problem, '/name')}>
        <Input
          autoFocus
          mono
          required
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          maxLength={24}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
      <Field
        label={t('create.location')}
        hint={t('accounts.create.location.hint')}
        error={faultAt(problem, '/location')}
      >
        <Input
          required
          autoComplete="off"
          maxLength={topologyLimits.location}
          value={location}
          onChange={(event) => setLocation(event.target.value)}
        />
      </Field>
    </FormDialog>
  );
}
