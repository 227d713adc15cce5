import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal, reader } from '#app/_lib/portal.ts';
import { SettingsFrame } from '../settings-frame.tsx';
import { ApprovalRules } from './approval-rules.tsx';

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('settings');
  return { title: t('rules') };
}

/** The rules for executions: which of them a second person must approve. */
export default async function RulesPage() {
  if ((await reader())?.role !== 'admin') return <SettingsFrame place="rules">{null}</SettingsFrame>;
  const rules = await (await portal()).executions.rules();
  return (
    <SettingsFrame place="rules">
      <Words namespaces={['settings']}>
        <ApprovalRules first={rules} />
      </Words>
    </SettingsFrame>
  );
}
