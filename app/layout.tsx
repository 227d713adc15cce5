import type { Metadata, Viewport } from 'next';
import localFont from 'next/font/local';
import { cookies } from 'next/headers';
import type { ReactNode } from 'react';
import './globals.css';
import { cookieNames } from './_lib/cookies.ts';
import { CrashBoundary } from './_lib/crash-boundary.tsx';
import { bundlesOf } from './_lib/i18n/catalog.ts';
import { WordsProvider } from './_lib/i18n/client.tsx';
import { sharedNamespaces } from './_lib/i18n/namespaces.ts';
import { currentDateLocale, currentLanguage, directionOf, preferredLanguage } from './_lib/i18n/server.ts';
import { ReaderClock } from './_lib/reader-clock.tsx';
import { readerZone } from './_lib/reader-zone.ts';

/**
 * The Latin subset of Inter is preloaded. If it is late, the page keeps the fallback font, because a change of the font
 * would move what is read. The extended subset is loaded only if a page uses its characters.
 */
const inter = localFont({
  src: '../node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
  variable: '--font-inter',
  weight: '100 900',
  display: 'optional',
});
const interExtended = localFont({
  src: '../node_modules/@fontsource-variable/inter/files/inter-latin-ext-wght-normal.woff2',
  variable: '--font-inter-ext',
  weight: '100 900',
  preload: false,
  adjustFontFallback: false,
  declarations: [
    {
      prop: 'unicode-range',
      value: 'U+0100-02BA, U+02BD-02C5, U+02C7-02CC, U+02CE-02D7, U+02DD-02FF, U+1E00-1E9F, U+1EF2-1EFF, U+20A0-20AB',
    },
  ],
});
const mono = localFont({
  src: '../node_modules/@fontsource-variable/geist-mono/files/geist-mono-latin-wght-normal.woff2',
  variable: '--font-geist-mono',
  weight: '100 900',
  preload: false,
  adjustFontFallback: false,
});

export const metadata: Metadata = {
  title: { template: '%s · Annex', default: 'Annex' },
  applicationName: 'Annex',
  manifest: '/site.webmanifest',
  icons: {
    icon: [
      { url: '/favicon.ico', sizes: '16x16 32x32 48x48' },
      { url: '/icon.svg', type: 'image/svg+xml' },
    ],
    apple: '/apple-touch-icon.png',
  },
  robots: { index: false, follow: false },
  formatDetection: { telephone: false, email: false, address: false },
};

export const viewport: Viewport = {
  width: 'device-width',
  initialScale: 1,
  themeColor: [
    { media: '(prefers-color-scheme: light)', color: '#f8f9fb' },
    { media: '(prefers-color-scheme: dark)', color: '#0d0e11' },
  ],
};

/** Language and theme are known before the first byte is sent, so that the page does not flicker. */
export default async function RootLayout({ children }: { children: ReactNode }) {
  const [language, preferred, jar, timeZone, dateLocale] = await Promise.all([
    currentLanguage(),
    preferredLanguage(),
    cookies(),
    readerZone(),
    currentDateLocale(),
  ]);
  const theme = jar.get(cookieNames.theme)?.value;
  return (
    <html
      lang={language}
      dir={directionOf(language)}
      data-theme={theme === 'light' || theme === 'dark' ? theme : undefined}
      className={`${inter.variable} ${interExtended.variable} ${mono.variable}`}
    >
      <body>
        <WordsProvider language={language} preferred={preferred} bundles={bundlesOf(language, sharedNamespaces)}>
          <ReaderClock now={Date.now()} timeZone={timeZone} dateLocale={dateLocale}>
            <CrashBoundary>{children}</CrashBoundary>
          </ReaderClock>
        </WordsProvider>
      </body>
    </html>
  );
}
