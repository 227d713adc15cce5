'use client';

import Link from 'next/link';
import type { ReactNode } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { TextLink } from '#app/_ui/text-link.tsx';
import { relationHref } from '../../services/service-data.ts';
import type { NamedUnit, ShownRunDetails } from '../unit-data.ts';
import { Causes } from './causes.tsx';

interface RunFactsProps {
  name: NamedUnit;
  run: ShownRunDetails;
}

/** What caused a run, what it read, and what it stored. */
export function RunFacts({ name, run }: RunFactsProps) {
  const { t } = useTranslation('services');
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-x-6 gap-y-3 border-t border-line-subtle px-4 py-3 md:grid-cols-[minmax(0,2fr)_minmax(0,1fr)_minmax(0,1.4fr)]">
      <Part title={t('unit.run.because')}>
        <Causes model={name.model} run={run} />
      </Part>
      <Part title={t('unit.run.read')}>
        <Read name={name} run={run} />
      </Part>
      <Part title={t('unit.run.stored')}>
        <Stored name={name} run={run} />
      </Part>
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <h4 className="mb-1 text-12 font-medium text-ink-3">{title}</h4>
      {children}
    </div>
  );
}

function Read({ name, run: { read, outcome } }: RunFactsProps) {
  const { t } = useTranslation('services');
  if (read.length === 0)
    return <p className="text-ink-2">{t(outcome === 'running' ? 'unit.run.notYet' : 'unit.run.nothingRead')}</p>;
  return (
    <ul className="space-y-0.5 tabular-nums">
      {read.map(({ relation, name: endpoint, unit, version }) => (
        <li key={`${relation} ${unit}`} className="wrap-anywhere">
          {relation === null || unit === null ? (
            t('unit.run.readSettings', { version })
          ) : (
            <Trans
              text={t('unit.run.readNode', { unit, version, relation: endpoint ?? '' })}
              tags={{ unit: <TextLink href={relationHref(name.model, relation)} prefetch={false} translate="no" /> }}
            />
          )}
        </li>
      ))}
    </ul>
  );
}

function Stored({ name, run }: RunFactsProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const { stored, dropped, openPorts, outcome } = run;
  if (outcome === 'running') return <p className="text-ink-2">{t('unit.run.storedAtEnd')}</p>;
  if (outcome !== 'succeeded') return <p className="text-pretty text-ink-2">{t('unit.run.storedNothing')}</p>;
  if (stored.length + dropped.length + openPorts.length === 0) {
    return <p className="text-ink-2">{t('unit.run.changedNothing')}</p>;
  }
  return (
    <ul className="space-y-1.5">
      {stored.map(({ relation, name: endpoint, version, keys }) => (
        <li key={relation} className="wrap-anywhere">
          <Link
            href={relationHref(name.model, relation)}
            prefetch={false}
            className="rounded-xs text-brand-text underline decoration-brand-line underline-offset-3 hover:decoration-current"
          >
            {t('unit.run.storedIn', { relation: endpoint, version })}
          </Link>
          {keys.length === 0 ? null : (
            <span className="block text-12 text-ink-2">
              {keys.map(({ key, change }, index) => (
                <span key={key}>
                  {index === 0 ? null : ', '}
                  <span translate="no" className={change === 'removed' ? 'mono line-through' : 'mono'}>
                    {key}
                  </span>
                  {change === 'removed' ? <span className="sr-only"> {t('unit.run.keyRemoved')}</span> : null}
                </span>
              ))}
            </span>
          )}
        </li>
      ))}
      {dropped.map(({ relation, name: endpoint }) => (
        <li key={`dropped ${relation}`} className="text-pretty text-ink-2">
          {t('unit.run.dropped', { relation: endpoint })}
        </li>
      ))}
      {openPorts.length === 0 ? null : (
        <li>{t('unit.run.opened', { ports: format.list(openPorts), count: openPorts.length })}</li>
      )}
    </ul>
  );
}
