'use client';

import { Lock } from 'lucide-react';
import dynamic from 'next/dynamic';
import { type ReactNode, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { Segmented } from '#app/_ui/segmented.tsx';
import type { Change } from './changes.ts';
import { type Protected, printed, type Settings } from './draft.ts';
import { useChangeWords } from './use-change-words.ts';

const SettingsDiff = dynamic(() => import('./settings-diff.tsx').then((module) => module.SettingsDiff), { ssr: false });

export interface ChangesCardProps {
  changes: readonly Change[];
  secrets: Protected;
  /** Protected settings are set already. */
  hadSecrets: boolean;
  before: Settings;
  after: Settings;
  /** The sequence number in force, null for a new extension. */
  sequenceNumber: number | null;
  runs: boolean;
  faultAt(pointer: string): string | undefined;
}

type View = 'words' | 'json';

/** The difference before it is applied, in words and as lines of JSON. */
export function ChangesCard(props: ChangesCardProps) {
  const { changes, secrets, hadSecrets, before, after, sequenceNumber, runs, faultAt } = props;
  const { t } = useTranslation('editor');
  const say = useChangeWords();
  const [view, setView] = useState<View>('words');
  const secretChange = changeOfSecrets(secrets, hadSecrets);
  const count = changes.length + (secretChange === null ? 0 : 1);
  const sequence =
    sequenceNumber === null
      ? t('changes.sequenceNew')
      : runs
        ? t('changes.sequence', { from: sequenceNumber, to: sequenceNumber + 1 })
        : t('changes.sequenceSame');
  return (
    <Card>
      <CardHeader
        title={t('changes.title')}
        note={
          count === 0 && sequenceNumber !== null ? undefined : (
            <span className="tabular-nums">
              {t('changes.count', { count })}, {sequence}
            </span>
          )
        }
        actions={
          <Segmented<View>
            label={t('changes.view')}
            value={view}
            onChange={setView}
            options={[
              { value: 'words', label: t('changes.words') },
              { value: 'json', label: t('changes.json') },
            ]}
          />
        }
      />
      {view === 'json' ? (
        <SettingsDiff before={printed(before)} after={printed(after)} />
      ) : count === 0 ? (
        <CardBody className="text-ink-3">{t('changes.none')}</CardBody>
      ) : (
        <dl className="pb-1.5">
          {changes.map((change) => {
            const fault = change.kind === 'setting' ? faultAt(change.at) : undefined;
            return (
              <Row key={`${change.kind}${change.at}`} title={say.title(change)}>
                <span className={cn(change.kind === 'setting' && 'mono', 'wrap-anywhere')}>
                  {change.before === undefined ? null : (
                    <del className="text-failed-text">{say.value(change, change.before)}</del>
                  )}{' '}
                  {change.after === undefined ? null : (
                    <ins className={cn('no-underline', fault === undefined ? 'text-healthy-text' : 'font-medium')}>
                      {say.value(change, change.after)}
                    </ins>
                  )}
                </span>
                {change.after === undefined ? (
                  <span className="text-12 text-ink-3"> {t('changes.removed')}</span>
                ) : null}
                {fault === undefined ? null : <span className="block text-12 text-failed-text">{fault}</span>}
              </Row>
            );
          })}
          {secretChange === null ? null : (
            <Row title={t('changes.protected')}>
              <span className="text-ink-2">
                <Lock aria-hidden className="me-1.5 inline size-3.5 align-[-2px]" />
                {t(`changes.protected.${secretChange}`)}
              </span>
            </Row>
          )}
        </dl>
      )}
    </Card>
  );
}

/** What happens to protected settings; null while nothing does. */
export function changeOfSecrets(secrets: Protected, hadSecrets: boolean): 'replace' | 'add' | 'remove' | null {
  if (secrets.mode === 'keep') return null;
  const isEmpty = secrets.mode === 'remove' || (Object.keys(secrets.values).length === 0 && !secrets.unread);
  if (isEmpty) return secrets.mode === 'remove' && hadSecrets ? 'remove' : hadSecrets ? 'replace' : null;
  return hadSecrets ? 'replace' : 'add';
}

function Row({ title, children }: { title: ReactNode; children: ReactNode }) {
  return (
    <div className="grid gap-x-3 border-t border-line-subtle px-4 py-2 first:border-t-0 sm:grid-cols-[minmax(96px,160px)_minmax(0,1fr)]">
      <dt className="font-medium wrap-anywhere">{title}</dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  );
}
