'use client';

import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { Button } from '#app/_ui/button.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import type { CommandOutput, OutputDetails } from '../vm-data.ts';
import { FirstError } from './first-error-box.tsx';
import { OutputPage, pageRows } from './output-page.tsx';
import { SearchOutput } from './search-output.tsx';

/** An output with at most this many lines has no search. */
const linesWithoutSearch = 12;

/** A link that downloads the whole output. */
export function DownloadOutput({ vmId, output }: { vmId: string; output: CommandOutput }) {
  const { t } = useTranslation('outputs');
  const { id, extension, command } = output;
  return (
    <Button asChild size="sm">
      <a
        href={`/download/vms/${vmId}/outputs/${id}`}
        aria-label={t('download.label', { name: extension, command })}
        download
      >
        <Download aria-hidden />
        {t('download')}
      </a>
    </Button>
  );
}

export interface WholeOutputProps {
  vmId: string;
  outputId: string;
  /** Whether the command failed; if so, the first error in the output is also shown above the output. */
  failed: boolean;
  label: string;
}

/** The whole output of a command, page by page, with a search. */
export function WholeOutput({ vmId, outputId, failed, label }: WholeOutputProps) {
  const { t } = useTranslation('outputs');
  const trpc = useTRPC();
  const details = useQuery(trpc.outputs.get.queryOptions({ vmId, outputId }));
  /** The row that the reader jumped to. */
  const [chosen, setChosen] = useState<number | null>(null);
  if (details.error && !details.data) {
    return <QueryError error={details.error} onRetry={details.refetch} at={new Date(details.errorUpdatedAt)} />;
  }
  if (details.data === undefined) return <SkeletonRows columns={['w-64']} rows={8} label={t('loading')} />;
  const { rows, firstError } = details.data;
  const lifted = failed ? firstError : null;
  const at = chosen ?? lifted?.row ?? Math.max(0, rows - 1);
  return (
    <>
      {lifted ? (
        <FirstError
          line={lifted.row + 1}
          text={lifted.text}
          action={
            rows > pageRows ? (
              <Button size="sm" onClick={() => setChosen(lifted.row)}>
                {t('show')}
              </Button>
            ) : undefined
          }
        />
      ) : null}
      <IncompleteNote details={details.data} />
      {rows > 0 ? (
        <>
          {rows > linesWithoutSearch ? (
            <SearchOutput vmId={vmId} outputId={outputId} label={label} onChoose={setChosen} />
          ) : null}
          <OutputPage
            vmId={vmId}
            details={details.data}
            row={at}
            marked={chosen ?? lifted?.row}
            isError={chosen === null || chosen === lifted?.row}
            label={label}
            onTurn={setChosen}
          />
        </>
      ) : null}
    </>
  );
}

function IncompleteNote({ details: { totalBytes, storedBytes } }: { details: OutputDetails }) {
  const { t } = useTranslation('outputs');
  const format = useFormat();
  const stored = format.bytes(storedBytes);
  if (totalBytes === null) return <p className="text-12 text-ink-3">{t('open', { stored })}</p>;
  if (totalBytes > storedBytes) {
    return (
      <Banner status="warning" boxed>
        {t('missing', { stored, total: format.bytes(totalBytes) })}
      </Banner>
    );
  }
  return totalBytes === 0 ? <p className="text-12 text-ink-3">{t('nothing')}</p> : null;
}
