'use client';

import { type ReactNode, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { CardBody, CardHeader } from '#app/_ui/card.tsx';
import { CodeBlock } from '#app/_ui/code-block.tsx';
import { CopyButton } from '#app/_ui/copy.tsx';
import { Segmented } from '#app/_ui/segmented.tsx';
import { readable } from '../plan-text.ts';
import { PlanParts } from './plan-parts.tsx';
import { readPlan } from './read-plan.ts';
import { shownText } from './result.ts';

type View = 'parts' | 'json';

export interface PlanViewProps {
  /** The JSON text of the plan. */
  text: string;
  note?: ReactNode;
  /** The names of the execution's secret parameters. */
  secretParameters?: readonly string[];
  /** Whether the execution has ended, so that their values no longer exist. */
  areSecretsDeleted?: boolean;
  /** Lines of the Body that the stack of an exception names. */
  failedLines?: readonly number[];
}

/** The header and body of a card with a plan, in its parts or as JSON. */
export function PlanView({
  text,
  note,
  secretParameters = [],
  areSecretsDeleted = false,
  failedLines = [],
}: PlanViewProps) {
  const { t } = useTranslation('executions');
  const [view, setView] = useState<View>('parts');
  const parts = readPlan(text);
  const json = shownText(readable(text));
  return (
    <>
      <CardHeader
        title={t('plan.title')}
        note={note}
        actions={
          <>
            {parts === null ? null : (
              <Segmented<View>
                label={t('plan.view')}
                value={view}
                onChange={setView}
                options={[
                  { value: 'parts', label: t('plan.parts') },
                  { value: 'json', label: <span translate="no">JSON</span> },
                ]}
              />
            )}
            <CopyButton text={text} label={t('plan.copy')} />
          </>
        }
      />
      {parts !== null && view === 'parts' ? (
        <PlanParts {...{ parts, secretParameters, areSecretsDeleted, failedLines }} />
      ) : (
        <CardBody>
          <CodeBlock code={json.text} language="json" label={t('plan.title')} className="max-h-[32rem]" />
          {json.isCut ? <p className="mt-2 text-12 text-ink-2">{t('result.cut')}</p> : null}
        </CardBody>
      )}
    </>
  );
}
