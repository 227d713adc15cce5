'use client';

import dynamic from 'next/dynamic';

const XliffExport = dynamic(() => import('./xliff-export.tsx').then((module) => module.XliffExport), { ssr: false });
const XliffImport = dynamic(() => import('./xliff-import.tsx').then((module) => module.XliffImport), { ssr: false });

export interface XliffDialogsProps {
  handler: string;
  version: string;
  languages: readonly string[];
  isExporting: boolean;
  /** The translated file to import. */
  file: File | undefined;
  onCloseExport(): void;
  onCloseImport(): void;
}

export function XliffDialogs({ handler, version, languages, isExporting, file, ...props }: XliffDialogsProps) {
  const reference = { handler, version };
  return (
    <>
      {isExporting ? <XliffExport {...reference} languages={languages} onClose={props.onCloseExport} /> : null}
      {file ? (
        <XliffImport
          key={`${file.name} ${file.lastModified} ${file.size}`}
          {...reference}
          file={file}
          onClose={props.onCloseImport}
        />
      ) : null}
    </>
  );
}
