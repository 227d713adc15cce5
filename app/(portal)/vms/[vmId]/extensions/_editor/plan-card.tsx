'use client';

import { Lock } from 'lucide-react';
import dynamic from 'next/dynamic';
import { type ReactNode, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import type { FormPlan } from '#app/_ui/schema-form/bounded.ts';
import type { SettingsObject } from '#app/_ui/schema-form/form.tsx';
import { Segmented } from '#app/_ui/segmented.tsx';
import type { VmFacts } from '../../vm-data.ts';
import { type DraftChange, titlesOf } from './changes.ts';
import { printed } from './draft.ts';
import { PlanSteps } from './plan-steps.tsx';
import type { DraftSecretChange } from './secret-change.ts';
import type { ChangedSetting } from './single-change.ts';
import { useChangeWords } from './use-change-words.ts';
import type { Planned } from './use-plan.ts';

const SettingsDiff = dynamic(() => import('./settings-diff.tsx').then((module) => module.SettingsDiff), { ssr: false });

export interface PlanCardProps {
  changes: readonly DraftChange[];
  secretChange: DraftSecretChange;
  /** The protected settings that change individually; `protectedPlan` contains their titles. */
  changedSettings: readonly ChangedSetting[];
  protectedPlan: FormPlan | null;
  before: SettingsObject;
  after: SettingsObject;
  isNew: boolean;
  /** Whether the JSON is invalid, in which case there is no preview. */
  isUnread: boolean;
  /** Whether nothing has been changed yet. */
  idle: boolean;
  planned: Planned;
  hold: VmFacts['hold'];
  faultAt(pointer: string): string | undefined;
}

type View = 'words' | 'json';

/** A preview of the changes, as sentences or as JSON lines, and of the commands that the agent will run. */
export function PlanCard(props: PlanCardProps) {
  const { changes, secretChange, before, after, isNew, isUnread, planned, faultAt } = props;
  const idle = props.idle || isUnread;
  const { t } = useTranslation('editor');
  const [view, setView] = useState<View>('words');
  const secretCount = secretChange === 'change' ? props.changedSettings.length : secretChange === null ? 0 : 1;
  const count = changes.length + secretCount;
  const { plan } = planned;
  return (
    <Card aria-busy={!idle && !planned.settled}>
      <CardHeader
        title={t('changes.title')}
        note={
          idle ? undefined : (
            <span className="tabular-nums">
              {[
                count === 0 ? null : t('changes.count', { count }),
                plan === null ? null : changesNothing(plan) ? t('plan.none') : sequenceOf(plan, t),
              ]
                .filter(Boolean)
                .join(', ')}
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
      ) : count === 0 || isUnread ? (
        <CardBody className="text-ink-3">
          {t(isUnread ? 'changes.unread' : isNew ? 'changes.noSettings' : idle ? 'changes.none' : 'changes.nothing')}
        </CardBody>
      ) : (
        <dl className="pb-1.5">
          {changes.map((change) => (
            <ChangeRow
              key={`${change.kind}${change.at}`}
              change={change}
              fault={change.kind === 'setting' ? faultAt(change.at) : undefined}
            />
          ))}
          {secretChange === 'change' ? (
            props.changedSettings.map(({ name, change }) => (
              <SecretRow
                key={name}
                title={<span lang="">{titlesOf([name], props.protectedPlan)[0]}</span>}
                change={change}
              />
            ))
          ) : secretChange === null ? null : (
            <SecretRow title={t('changes.protected')} change={secretChange} />
          )}
        </dl>
      )}
      {idle || plan === null ? null : (
        <PlanSteps plan={plan} stale={!planned.settled} hold={changesNothing(plan) ? null : props.hold} />
      )}
    </Card>
  );
}

type LoadedPlan = NonNullable<Planned['plan']>;

const changesNothing = (plan: LoadedPlan) => plan.incarnation.after === plan.incarnation.before;

function sequenceOf({ extensions: [first] }: LoadedPlan, t: ReturnType<typeof useTranslation<'editor'>>['t']): string {
  if (first === undefined) return '';
  const { before, after } = first.sequenceNumber;
  if (before === null) return t('changes.sequenceNew');
  return before === after ? t('changes.sequenceSame') : t('changes.sequence', { from: before, to: after });
}

function ChangeRow({ change, fault }: { change: DraftChange; fault: string | undefined }) {
  const { t } = useTranslation('editor');
  const say = useChangeWords();
  return (
    <Row title={say.title(change)}>
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
      {change.after === undefined ? <span className="text-12 text-ink-3"> {t('changes.removed')}</span> : null}
      {fault === undefined ? null : <span className="block text-12 text-failed-text">{fault}</span>}
    </Row>
  );
}

function SecretRow({ title, change }: { title: ReactNode; change: 'add' | 'replace' | 'remove' }) {
  const { t } = useTranslation('editor');
  return (
    <Row title={title}>
      <span className="text-ink-2">
        <Lock aria-hidden className="me-1.5 inline size-3.5 align-[-2px]" />
        {t(`changes.protected.${change}`)}
      </span>
    </Row>
  );
}

function Row({ title, children }: { title: ReactNode; children: ReactNode }) {
  return (
    <div className="grid gap-x-3 border-t border-line-subtle px-4 py-2 first:border-t-0 sm:grid-cols-[minmax(96px,160px)_minmax(0,1fr)]">
      <dt className="font-medium wrap-anywhere">{title}</dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  );
}
