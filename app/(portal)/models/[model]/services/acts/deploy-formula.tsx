'use client';

import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { Field } from '#app/_ui/field.tsx';
import { SearchInput } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import type { useVersions } from './use-versions.ts';

export interface DeployFormulaProps {
  formula: string;
  onFormula(formula: string): void;
  version: string;
  onVersion(version: string): void;
  versions: ReturnType<typeof useVersions>;
}

/** Number of formulas that one request returns. If there are more, the reader searches. */
const maxFormulas = 200;

/** Chooses a formula of the catalog and one of its published versions. */
export function DeployFormula({ formula, onFormula, version, onVersion, versions }: DeployFormulaProps) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const [typed, setTyped] = useState('');
  const q = useDeferredValue(typed.trim());
  const catalog = useQuery({
    ...trpc.handlers.list.queryOptions({ kind: 'formula', q, limit: maxFormulas }),
    placeholderData: (previous) => previous,
  });
  if (catalog.data === undefined) {
    return catalog.error ? (
      <QueryError
        title={t('deploy.formulasFailed')}
        error={catalog.error}
        onRetry={catalog.refetch}
        at={new Date(catalog.errorUpdatedAt)}
      />
    ) : (
      <Skeleton className="h-14 w-full" />
    );
  }
  const items = catalog.data.items.filter(({ latestVersion }) => latestVersion !== null);
  if (items.length === 0 && q === '') return <NoFormulas />;
  const names = items.map(({ handler }) => handler);
  const options = names.includes(formula) || formula === '' ? names : [formula, ...names];
  const hasSearch = catalog.data.nextCursor !== null || q !== '';
  return (
    <>
      {hasSearch ? (
        <SearchInput
          label={t('deploy.search')}
          className="w-full"
          value={typed}
          maxLength={200}
          onChange={(event) => setTyped(event.target.value)}
        />
      ) : null}
      <div className="grid grid-cols-[minmax(0,2fr)_minmax(0,1fr)] gap-3 max-sm:grid-cols-[minmax(0,1fr)]">
        <Field label={t('column.formula')} hint={versions.formula?.summary || undefined}>
          <Select
            mono={formula !== ''}
            required
            value={formula}
            onChange={(event) => onFormula(event.target.value)}
            options={[
              { value: '', label: t('deploy.choose'), disabled: true },
              ...options.map((name) => ({ value: name, label: name, isName: true })),
            ]}
          />
        </Field>
        <Field label={t('column.version')}>
          <Select
            mono
            disabled={formula === '' || versions.published.length === 0}
            value={version}
            onChange={(event) => onVersion(event.target.value)}
            options={versions.published.map((each) => ({ value: each, label: each, isName: true }))}
          />
        </Field>
      </div>
      {versions.error ? (
        <QueryError
          title={t('deploy.versionsFailed')}
          error={versions.error}
          onRetry={versions.refetch}
          at={new Date(versions.errorUpdatedAt)}
        />
      ) : formula !== '' && versions.isPending ? (
        <Skeleton className="h-24 w-full" />
      ) : null}
    </>
  );
}

function NoFormulas() {
  const { t } = useTranslation('services');
  return (
    <EmptyState as="h3" title={t('deploy.noFormulas.title')}>
      <p>{t('deploy.noFormulas.why')}</p>
      <p>
        <TextLink href="/publish">{t('deploy.noFormulas.act')}</TextLink>
      </p>
    </EmptyState>
  );
}
