CREATE TABLE "message_cursors" (
	"id" integer PRIMARY KEY NOT NULL,
	"history_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "reported_messages" (
	"handler" text NOT NULL,
	"version" text NOT NULL,
	"id" text NOT NULL,
	"params" jsonb NOT NULL,
	"reports" integer NOT NULL,
	"first_seen_at" timestamp with time zone NOT NULL,
	"last_seen_at" timestamp with time zone NOT NULL,
	CONSTRAINT "reported_messages_handler_version_id_pk" PRIMARY KEY("handler","version","id")
);
--> statement-breakpoint
ALTER TABLE "resources" ADD COLUMN "revision" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "reported_messages" ADD CONSTRAINT "reported_messages_handler_version_handler_versions_handler_version_fk" FOREIGN KEY ("handler","version") REFERENCES "public"."handler_versions"("handler","version") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "report_history_id" ON "report_history" USING brin ("id");