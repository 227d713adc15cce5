'use client';

import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Field, FieldError } from '#app/_ui/field.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Select } from '#app/_ui/select.tsx';
import { FormDialog } from '#app/(portal)/settings/form-dialog.tsx';
import type { ServiceDialogsProps } from '../service-acts.ts';
import type { ShownService } from '../service-data.ts';
import { requestedSize, WaveField, waveSizeOf } from './at-once-field.tsx';
import { useSetService } from './use-set-service.ts';
import { useVersions } from './use-versions.ts';

export interface UpgradeDialogProps extends Pick<ServiceDialogsProps, 'model' | 'onClose'> {
  service: ShownService;
  version: string | undefined;
}

/** Number of units that the dialog names. */
const maxNamed = 8;

/** Gives a service another version of its formula, a higher or an earlier one. Says in which order units get it. */
export function UpgradeDialog({ model, service, version: first, onClose }: UpgradeDialogProps) {
  const { t } = useTranslation('services');
  const explain = useProblem();
  const { name, formula } = service;
  const versions = useVersions(formula);
  const others = versions.published.filter((version) => version !== service.version);
  const [wanted, setWanted] = useState(first ?? '');
  const [size, setSize] = useState(() => waveSizeOf(service.atOnce));
  const version = others.includes(wanted) ? wanted : (others[0] ?? '');
  const set = useSetService({ onDone: onClose });
  const problem = set.error === null ? undefined : explain(set.error);
  const isBack = versions.published.indexOf(version) > versions.published.indexOf(service.version);
  const submit = () => {
    if (version === '') return;
    set.mutate({
      ...{ model: model.name, service: name, formula, version, ifMatch: model.revision },
      upgrade: requestedSize(size),
    });
  };
  return (
    <FormDialog
      title={t('upgrade.title', { name })}
      description={t('upgrade.why', { version: service.version })}
      act={version === '' ? t('act.upgrade') : t(isBack ? 'upgrade.actBack' : 'upgrade.act', { version })}
      isIdle={version === ''}
      busy={set.isPending}
      onEdit={() => forgetError(set)}
      onSubmit={submit}
      onClose={onClose}
      error={problem?.message}
    >
      {versions.error ? (
        <QueryError
          title={t('deploy.versionsFailed')}
          error={versions.error}
          onRetry={versions.refetch}
          at={new Date(versions.errorUpdatedAt)}
        />
      ) : versions.data !== undefined && others.length === 0 ? (
        <p className="text-ink-2">{t('upgrade.noOther')}</p>
      ) : (
        <>
          <Field label={t('column.version')} hint={isBack ? t('upgrade.back.why') : undefined}>
            <Select
              mono
              value={version}
              onChange={(event) => setWanted(event.target.value)}
              options={others.map((each) => ({ value: each, label: each, isName: true }))}
            />
          </Field>
          <WaveField value={size} onChange={setSize} />
          <Order service={service} isAll={size.mode === 'all'} />
        </>
      )}
      {problem === undefined || problem.faults.length === 0 ? null : (
        <ul className="grid gap-1">
          {problem.faults.map(({ path, message }) => (
            <li key={`${path}${message}`}>
              <FieldError>
                <span translate="no" className="mono">
                  {path}
                </span>{' '}
                {message}
              </FieldError>
            </li>
          ))}
        </ul>
      )}
    </FormDialog>
  );
}

/** The order in which units in Production get the version: failing units first, then by number. */
function Order({ service: { units }, isAll }: { service: ShownService; isAll: boolean }) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const living = units.filter(({ life, isStaged }) => life === 'alive' && !isStaged);
  if (living.length === 0) return null;
  const [failing, others] = [living.filter((one) => !one.isConfirmed), living.filter((one) => one.isConfirmed)];
  const ordered = [...failing, ...others].map(({ unit }) => unit);
  const named = ordered.slice(0, maxNamed);
  const rest = ordered.length - named.length;
  const names = format.list(rest > 0 ? [...named, t('units.more', { count: rest })] : named);
  return (
    <p className="rounded-md bg-sunken px-3 py-2 text-12 text-pretty text-ink-2 shadow-hair-subtle">
      {t(isAll ? 'upgrade.together' : 'upgrade.order', { names, count: ordered.length })}
    </p>
  );
}
