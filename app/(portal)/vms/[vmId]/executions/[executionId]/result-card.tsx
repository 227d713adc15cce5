'use client';

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { CodeBlock } from '#app/_ui/code-block.tsx';
import { CopyButton } from '#app/_ui/copy.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { hasEnded, type ShownExecutionDetails } from '#app/(portal)/executions/execution-data.ts';
import { knownOf } from '#app/(portal)/executions/shown-state.ts';
import { ExceptionView } from './exception-view.tsx';
import { exceptionOf, shownText } from './result.ts';

/** The result of an execution: what the Body returned, or the exception that ended it. */
export function ResultCard({
  execution,
  first,
}: {
  execution: ShownExecutionDetails;
  first: string | null | undefined;
}) {
  const { t } = useTranslation('executions');
  const trpc = useTRPC();
  const { vmId, id } = execution;
  const result = useQuery({
    ...trpc.executions.result.queryOptions({ vmId, executionId: id }),
    initialData: first,
    enabled: hasEnded(execution),
  });
  if (!hasEnded(execution)) return null;
  const text = result.data ?? null;
  return (
    <Card>
      <CardHeader
        title={t('result.title')}
        actions={text === null ? undefined : <CopyButton text={text} label={t('result.copy')} />}
      />
      <CardBody className="grid grid-cols-[minmax(0,1fr)] gap-2">
        {result.error && !result.data ? (
          <QueryError error={result.error} onRetry={result.refetch} at={new Date(result.errorUpdatedAt)} />
        ) : result.isPending ? (
          <SkeletonRows columns={['w-64']} rows={2} label={t('loading')} />
        ) : text === null ? (
          <p className="text-12 text-ink-2">
            {t(knownOf(execution) === 'nothing-ran' ? 'result.nothingRan' : 'result.none')}
          </p>
        ) : (
          <Body text={text} />
        )}
      </CardBody>
    </Card>
  );
}

function Body({ text }: { text: string }) {
  const { t } = useTranslation('executions');
  const { Body: body, ErrorCode: code } = JSON.parse(text) as { Body?: unknown; ErrorCode?: number };
  const exception = code === 0 ? null : exceptionOf(body);
  if (exception !== null) return <ExceptionView exception={exception} />;
  if (body === undefined || body === null) return <p className="text-12 text-ink-2">{t('result.nothing')}</p>;
  const { text: shown, language, isCut } = shownText(body);
  return (
    <>
      <CodeBlock code={shown} language={language} label={t('result.title')} className="max-h-96" />
      {isCut ? <p className="text-12 text-ink-2">{t('result.cut')}</p> : null}
    </>
  );
}
