'use client';

import dynamic from 'next/dynamic';
import { useRouter } from 'next/navigation';
import { type ComponentProps, useEffect, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { findingsOf } from '../handlers/package/finding.ts';
import { FindingCount } from '../handlers/package/finding-count.tsx';
import { DraftsCard } from './drafts-card.tsx';
import { PackageDrop } from './package-drop.tsx';
import { formulaNameIn, readZip, type ZipContents } from './read-zip.ts';
import { Refusal } from './refusal.tsx';
import { SendProgress } from './send-progress.tsx';
import { type Suggestion, suggest } from './suggest.ts';
import { useSending } from './use-sending.ts';

// Loaded on demand, because these components are needed only after a file is chosen.
const NameForm = dynamic(() => import('./name-form.tsx').then((module) => module.NameForm), { ssr: false });
const PackageContents = dynamic(
  () => import('../handlers/package/package-contents.tsx').then((module) => module.PackageContents),
  { ssr: false },
);

export interface PublishViewProps {
  /** The handler whose page linked here; empty if there is none. */
  handler: string;
  known: readonly string[];
  publishers: readonly string[];
  /** Whether there are more publishers than `publishers` lists. */
  hasMorePublishers: boolean;
  drafts: ComponentProps<typeof DraftsCard>['first'];
  packageBytes: number;
}

interface Chosen {
  file: File;
  contents: ZipContents;
  suggestion: Suggestion;
}

/** Lets the reader choose a zip, name it and upload it. Findings remain visible until another file is chosen. */
export function PublishView({ handler, known, publishers, hasMorePublishers, drafts, packageBytes }: PublishViewProps) {
  const { t } = useTranslation('packages');
  const reader = useReader();
  const router = useRouter();
  const explain = useProblem();
  const [chosen, setChosen] = useState<Chosen>();
  const sending = useSending();
  const { sent } = sending;
  useEffect(() => {
    if (sent) router.push(`/handlers/${sent.handler}/${sent.version}`);
  }, [sent, router]);

  const take = async (file: File) => {
    sending.reset();
    const namespaces = reader.role === 'admin' ? [] : reader.namespaces;
    const contents = await readZip(file);
    const guess = suggest(
      file.name,
      known,
      namespaces,
      contents.stated,
      contents.isFormula ? formulaNameIn(contents.manifestText) : null,
    );
    const suggestion = { handler: handler === '' ? guess.handler : handler, version: guess.version };
    setChosen({ file, contents, suggestion });
  };
  const problem = sending.error === undefined ? undefined : explain(sending.error);
  const refused = problem?.code === 'package_refused' ? problem : undefined;
  const findings = findingsOf('failed', refused?.faults ?? []);

  return (
    <>
      <PageHeader title={t('publish.title')} actions={<FindingCount findings={findings} />} />
      <div className="grid gap-4">
        {sending.progress && chosen ? (
          <SendProgress file={chosen.file} progress={sending.progress} onStop={sending.stop} />
        ) : (
          <PackageDrop
            file={chosen?.file}
            limit={packageBytes}
            isZip={chosen?.contents.isZip ?? true}
            refused={refused !== undefined}
            onFile={(file) => void take(file)}
          />
        )}
        {problem ? <Refusal problem={problem} /> : null}
        {chosen && !refused ? (
          // Hidden rather than removed during the upload: if the upload fails or is stopped, the typed name is still
          // there.
          <div hidden={sending.progress !== undefined}>
            <NameForm
              // Choosing another file resets the name.
              key={`${chosen.file.name} ${chosen.file.lastModified} ${chosen.file.size}`}
              suggestion={chosen.suggestion}
              isFormula={chosen.contents.isFormula}
              known={known}
              publishers={publishers}
              hasMorePublishers={hasMorePublishers}
              problem={problem}
              onSend={(name) => sending.send({ ...name, file: chosen.file })}
            />
          </div>
        ) : null}
        {chosen && (refused || chosen.contents.files.length > 0) ? (
          <PackageContents
            files={chosen.contents.files}
            manifestText={chosen.contents.manifestText}
            findings={findings}
          />
        ) : null}
        {chosen ? null : <DraftsCard first={drafts} />}
      </div>
    </>
  );
}
