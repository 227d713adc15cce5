'use client';

import { useQuery } from '@tanstack/react-query';
import { ArrowUp } from 'lucide-react';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useState } from 'react';
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
export function VersionView({ first, resources: firstResources, handler: firstHandler, start }: VersionViewProps) {
  const { t } = useTranslation('packages');
  const trpc = useTRPC();
  const { handler, version } = first;
  const found = useQuery({ ...trpc.packages.get.queryOptions({ handler, version }), initialData: first }).data;
  const resources = useQuery({
    ...trpc.resources.get.queryOptions({ handler, version }),
    initialData: firstResources,
  }).data;
  const { versions } = useQuery({ ...trpc.handlers.get.queryOptions({ handler }), initialData: firstHandler }).data;
  const use = versions.find((one) => one.version === version);
  const hasOlder = hasOlderOnVms(versions, version);
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
          <>
            <FindingCount findings={findings} />
            {found.state === 'published' && hasOlder ? <RollOutButton version={found} /> : null}
            {mayPublish && found.state === 'draft' ? (
              <PublishAct
                version={found}
                resources={resources}
                unsaved={unsaved}
                unsavedSchema={unsavedSchema}
                onPublished={() => setJustPublished(true)}
              />
            ) : null}
            {mayPublish && found.state !== 'withdrawn' ? (
              <VersionMenu
                handler={handler}
                version={version}
                state={found.state}
                vms={use?.vms ?? 0}
                kind={formula ? 'formula' : 'handler'}
              />
            ) : null}
          </>
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
        <div id="messages" className="min-w-0 scroll-mt-16">
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
