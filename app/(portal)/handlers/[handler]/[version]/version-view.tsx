'use client';

import { useQuery } from '@tanstack/react-query';
import { ArrowUp } from 'lucide-react';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { type ReactNode, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { Chip } from '#app/_ui/tag.tsx';
import { formulaOf } from '../../formula/formula-of.ts';
import { namespaceOf, typeOf } from '../../handler-name.ts';
import { NotMine } from '../../not-mine.tsx';
import { findingsOf } from '../../package/finding.ts';
import { FindingCount } from '../../package/finding-count.tsx';
import { PackageContents } from '../../package/package-contents.tsx';
import { useMayPublish } from '../../publishing-rights.ts';
import { hasOlderOnVms, rollOutAddress } from '../../roll-out.ts';
import { VersionState } from '../../version-state.tsx';
import type { Handler } from '../handler-data.ts';
import type { MessagesStart } from './messages/start.ts';
import { PublishAct } from './publish-act.tsx';
import { VersionBanners } from './version-banners.tsx';
import type { Version, VersionResources } from './version-data.ts';
import { VersionFacts } from './version-facts.tsx';
import { VersionMenu } from './version-menu.tsx';

// Loaded on demand. The server renders these cards, so nothing moves when their scripts load.
const FormulaCard = dynamic(() => import('../../formula/formula-card.tsx').then((module) => module.FormulaCard));
const MessagesCard = dynamic(() => import('./messages/messages-card.tsx').then((module) => module.MessagesCard));
const SchemaCard = dynamic(() => import('./schema-card.tsx').then((module) => module.SchemaCard));

export interface VersionViewProps {
  first: Version;
  resources: VersionResources;
  /** The handler with all versions and their numbers of VMs. */
  handler: Handler;
  start: MessagesStart;
}

/** Shows a version's package, messages, settings schema and state, and keeps them up to date. */
export function VersionView({ start, ...loaded }: VersionViewProps) {
  const { t } = useTranslation('packages');
  const { handler, version } = loaded.first;
  const { found, resources, use, hasOlder } = useVersion(loaded);
  const mayPublish = useMayPublish(namespaceOf(handler));
  const [unsaved, setUnsaved] = useState(false);
  const [unsavedSchema, setUnsavedSchema] = useState(false);
  const [justPublished, setJustPublished] = useState(false);
  const formula = formulaOf(found.manifest);
  const findings = findingsOf('warning', found.warnings);
  return (
    <>
      <PageHeader
        title={<span translate="no">{`${typeOf(handler)} ${version}`}</span>}
        badge={
          <>
            {formula ? <Chip>{t('formula.mark')}</Chip> : null}
            <VersionState state={found.state} className="font-medium" />
          </>
        }
        actions={
          <VersionActs
            version={found}
            findings={findings}
            publish={
              <PublishAct
                version={found}
                resources={resources}
                unsaved={unsaved}
                unsavedSchema={unsavedSchema}
                onPublished={() => setJustPublished(true)}
              />
            }
            hasOlder={hasOlder}
            vms={use?.vms ?? 0}
            isFormula={formula !== null}
          />
        }
      >
        <VersionFacts version={found} use={use} isFormula={formula !== null} />
      </PageHeader>
      <NotMine namespace={namespaceOf(handler)} className="mb-4" />
      <div className="grid gap-4">
        <VersionBanners
          version={found}
          justPublished={justPublished}
          hasOlder={hasOlder}
          isFormula={formula !== null}
        />
        <PackageContents
          files={found.files}
          manifestText={found.manifestText}
          findings={findings}
          leftOut={found.leftOut?.files}
        />
        {formula ? <FormulaCard manifest={formula} schema={found.settingsSchema} /> : null}
        <div id="messages" className="min-w-0 scroll-mt-4">
          <MessagesCard
            handler={handler}
            version={version}
            resources={resources}
            settingMessages={found.settingMessages}
            mayEdit={mayPublish}
            onUnsaved={setUnsaved}
            start={start}
          />
        </div>
        <SchemaCard
          handler={handler}
          version={version}
          schema={found.settingsSchema}
          carriedFrom={found.settingsSchemaFrom}
          mayEdit={mayPublish && found.state === 'draft'}
          isDraft={found.state === 'draft'}
          onUnsaved={setUnsavedSchema}
        />
      </div>
    </>
  );
}

/** Keeps the version, its messages and its numbers of VMs up to date. */
function useVersion({ first, resources, handler: firstHandler }: Omit<VersionViewProps, 'start'>) {
  const trpc = useTRPC();
  const { handler, version } = first;
  const { versions } = useQuery({ ...trpc.handlers.get.queryOptions({ handler }), initialData: firstHandler }).data;
  return {
    found: useQuery({ ...trpc.packages.get.queryOptions({ handler, version }), initialData: first }).data,
    resources: useQuery({ ...trpc.resources.get.queryOptions({ handler, version }), initialData: resources }).data,
    use: versions.find((one) => one.version === version),
    hasOlder: hasOlderOnVms(versions, version),
  };
}

interface VersionActsProps {
  version: Version;
  findings: ReturnType<typeof findingsOf>;
  /** The button that publishes a draft. */
  publish: ReactNode;
  hasOlder: boolean;
  vms: number;
  isFormula: boolean;
}

/** The findings and the actions in the header. */
function VersionActs({ version: found, findings, publish, hasOlder, vms, isFormula }: VersionActsProps) {
  const { handler, version, state } = found;
  const mayPublish = useMayPublish(namespaceOf(handler));
  return (
    <>
      <FindingCount findings={findings} />
      {state === 'published' && hasOlder ? <RollOutButton version={found} /> : null}
      {mayPublish && state === 'draft' ? publish : null}
      {mayPublish && state !== 'withdrawn' ? (
        <VersionMenu
          handler={handler}
          version={version}
          state={state}
          vms={vms}
          kind={isFormula ? 'formula' : 'handler'}
        />
      ) : null}
    </>
  );
}

/** Opens the list of VMs that have an older version and can run a newer one. */
function RollOutButton({ version: { handler, version } }: { version: Version }) {
  const { t } = useTranslation('packages');
  return (
    <Button asChild>
      <Link href={rollOutAddress(handler, version)}>
        <ArrowUp aria-hidden />
        {t('rollOut.act', { version })}
      </Link>
    </Button>
  );
}
