'use client';

import { useEffect } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { CodeBlock } from '#app/_ui/code-block.tsx';
import { CopyButton } from '#app/_ui/copy.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { firstError } from './first-error.ts';
import { byUrgency, commandFailed, type Extension, type InstanceView } from './vm-data.ts';

/** What the last command of each extension wrote, failed ones first. */
export function OutputTab({ view }: { view: InstanceView }) {
  const { t } = useTranslation('reports');
  // The panel comes after the address, too late for the browser's own jump.
  useEffect(() => {
    document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
  }, []);
  const spoken = byUrgency(view.extensions).filter(({ handlerState }) => handlerState?.outputTail);
  if (spoken.length === 0) {
    return (
      <Card>
        <EmptyState title={t('output.empty')}>
          <p>{t('output.empty.why')}</p>
        </EmptyState>
      </Card>
    );
  }
  return (
    <div className="grid gap-4">
      {spoken.map((extension) => (
        <Output key={extension.name} extension={extension} />
      ))}
    </div>
  );
}

/** The portal gives the last whole lines of 4,000 characters. */
const almostTail = 3_500;

function Output({ extension }: { extension: Extension }) {
  const { t } = useTranslation('reports');
  const { name, handlerState } = extension;
  if (handlerState === null) return null;
  const output = (handlerState.outputTail ?? '').replace(/\n+$/, '');
  const found = commandFailed(extension) ? firstError(output) : null;
  const { exitCode, timedOut, attempt, command, at } = handlerState;
  const label = t('output.title', { name, command: command ?? '' });
  return (
    <Card id={`output-${name}`} className="scroll-mt-20">
      <CardHeader
        title={label}
        note={
          <span className="flex flex-wrap gap-x-2 tabular-nums">
            {timedOut ? <span>{t('output.timedOut')}</span> : null}
            {exitCode === null ? null : <span>{t('output.exit', { exit: exitCode })}</span>}
            {(attempt ?? 0) > 1 ? <span>{t('card.attempt', { attempt: attempt ?? 0 })}</span> : null}
            {at === null ? null : <DateTime value={new Date(at)} style="time" />}
          </span>
        }
        actions={<CopyButton text={output} label={t('output.copy', { name })} />}
      />
      <CardBody className="grid gap-2">
        {found ? (
          <div
            data-st="failed"
            className="flex gap-2 rounded-md bg-st-tint px-3 py-2 text-st-text shadow-[inset_0_0_0_1px_var(--st-line)] [--cut:var(--st-tint)]"
          >
            <StatusIcon status="failed" className="mt-0.5" />
            <div className="min-w-0">
              <p className="text-11">{t('output.first', { line: found.line })}</p>
              <p translate="no" className="mono wrap-anywhere">
                {found.text}
              </p>
            </div>
          </div>
        ) : null}
        {(handlerState.outputTail ?? '').length >= almostTail ? (
          <p className="text-12 text-ink-3">{t('output.tail')}</p>
        ) : null}
        <CodeBlock code={output} marked={found?.line} label={label} className="max-h-96" />
      </CardBody>
    </Card>
  );
}
