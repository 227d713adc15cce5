'use client';

/** Shown if even the layout fails, so it uses no texts, styles or providers of the app. */
export default function GlobalError({ error, reset }: { error: Error & { digest?: string }; reset(): void }) {
  return (
    <html lang="en" style={{ colorScheme: 'light dark' }}>
      <body
        style={{ font: '14px/1.5 system-ui, sans-serif', margin: '10vh auto', maxWidth: '36em', padding: '0 16px' }}
      >
        <title>Annex</title>
        <h1 style={{ fontSize: 20 }}>The page did not load · Die Seite konnte nicht geladen werden</h1>
        <p>An error occurred in the portal while it was building this page. Nothing was changed.</p>
        <p lang="de">Beim Erstellen dieser Seite ist im Portal ein Fehler aufgetreten. Es wurde nichts geändert.</p>
        {error.digest === undefined ? null : <p>{error.digest}</p>}
        <button type="button" onClick={reset}>
          Try again · Erneut versuchen
        </button>
      </body>
    </html>
  );
}
