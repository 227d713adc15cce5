'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { CodeBlock } from '#app/_ui/code-block.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { type ShownException, shownText } from './result.ts';

/** An exception with its stack, its details about the failed call, and its causes. */
export function ExceptionView({ exception }: { exception: ShownException }) {
  const { t } = useTranslation('executions');
  const { Message, Type, Stack, AdditionalInfo, Causes } = exception;
  return (
    <div data-st="failed" className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <p className="flex items-baseline gap-2">
        <StatusIcon status="failed" className="relative top-0.5" />
        <code translate="no" className="mono font-medium wrap-anywhere">
          {Type === '' ? t('result.exception') : Type}
        </code>
      </p>
      <p className="text-14 whitespace-pre-wrap wrap-anywhere">{Message}</p>
      {Stack.length === 0 ? null : (
        <CodeBlock
          code={Stack.join('\n')}
          numbers={false}
          // The type tells the stack of an exception from the stacks of its causes.
          label={[t('result.stack'), Type].filter((part) => part !== '').join(': ')}
          className="max-h-64"
        />
      )}
      {isEmpty(AdditionalInfo) ? null : <AdditionalFacts info={AdditionalInfo} />}
      {Causes.length === 0 ? null : (
        <details open>
          <summary className="cursor-pointer rounded-sm text-12 font-medium text-ink-2">
            {t('result.causes', { count: Causes.length })}
          </summary>
          <div className="mt-2 grid grid-cols-[minmax(0,1fr)] gap-4 border-s border-line ps-3">
            {Causes.map((cause, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the causes of an exception keep their order
              <ExceptionView key={index} exception={cause} />
            ))}
          </div>
        </details>
      )}
    </div>
  );
}

const isEmpty = (info: unknown): boolean =>
  info === null || info === undefined || (typeof info === 'object' && Object.keys(info).length === 0);

/** What is known about the failed call, such as its script and exit code. The names are those of the contract. */
function AdditionalFacts({ info }: { info: unknown }) {
  const { t } = useTranslation('executions');
  const entries = Object.entries(typeof info === 'object' && info !== null ? info : { value: info });
  return (
    <dl aria-label={t('result.info')} className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-12">
      {entries
        .filter(([, value]) => value !== null && value !== '')
        .map(([name, value]) => (
          <div key={name} className="col-span-2 grid grid-cols-subgrid">
            <dt translate="no" className="mono-11 text-ink-2">
              {name}
            </dt>
            <dd translate="no" className="mono max-h-48 overflow-auto whitespace-pre-wrap wrap-anywhere">
              {shownText(value).text}
            </dd>
          </div>
        ))}
    </dl>
  );
}
