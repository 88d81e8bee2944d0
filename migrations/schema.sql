-- What the migrations make: written by `make schema`, not by hand, and never executed.

CREATE FUNCTION public.audit_entry_only_grows() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    raise exception 'audit_entry only grows: % refused', lower(tg_op)
        using errcode = 'restrict_violation';
end
$$;

CREATE TABLE public.account (
    person text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    disabled_at timestamp with time zone,
    CONSTRAINT account_person_check CHECK ((person <> ''::text)),
    CONSTRAINT account_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'consumer'::text, 'operator'::text, 'approver'::text, 'admin'::text])))
);

CREATE TABLE public.acknowledgement (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    ack_id uuid NOT NULL,
    purge_month date NOT NULL,
    status smallint DEFAULT 0 NOT NULL,
    content_type text,
    receipt bytea,
    answer bytea,
    functional bytea,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    fields text,
    binding bytea
)
PARTITION BY RANGE (purge_month);
ALTER TABLE ONLY public.acknowledgement ALTER COLUMN receipt SET COMPRESSION lz4;
ALTER TABLE ONLY public.acknowledgement ALTER COLUMN answer SET COMPRESSION lz4;
ALTER TABLE ONLY public.acknowledgement ALTER COLUMN functional SET COMPRESSION lz4;

CREATE TABLE public.acknowledgement_default (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    ack_id uuid NOT NULL,
    purge_month date NOT NULL,
    status smallint DEFAULT 0 NOT NULL,
    content_type text,
    receipt bytea,
    answer bytea,
    functional bytea,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    fields text,
    binding bytea
);
ALTER TABLE ONLY public.acknowledgement_default ALTER COLUMN receipt SET COMPRESSION lz4;
ALTER TABLE ONLY public.acknowledgement_default ALTER COLUMN answer SET COMPRESSION lz4;
ALTER TABLE ONLY public.acknowledgement_default ALTER COLUMN functional SET COMPRESSION lz4;

CREATE TABLE public.acknowledgement_held (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    ack_id uuid NOT NULL,
    purge_month date NOT NULL,
    status smallint DEFAULT 0 NOT NULL,
    content_type text,
    receipt bytea,
    answer bytea,
    functional bytea,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    fields text,
    binding bytea
);
ALTER TABLE ONLY public.acknowledgement_held ALTER COLUMN receipt SET COMPRESSION lz4;
ALTER TABLE ONLY public.acknowledgement_held ALTER COLUMN answer SET COMPRESSION lz4;
ALTER TABLE ONLY public.acknowledgement_held ALTER COLUMN functional SET COMPRESSION lz4;

CREATE TABLE public.api_token (
    token_id uuid NOT NULL,
    person text NOT NULL,
    role text NOT NULL,
    label text NOT NULL,
    sha256 bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT api_token_person_check CHECK ((person <> ''::text)),
    CONSTRAINT api_token_sha256_check CHECK ((length(sha256) = 32))
);

CREATE TABLE public.audit_entry (
    entry_id uuid NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    who text NOT NULL,
    role text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    partner_id text COLLATE pg_catalog."C",
    detail jsonb NOT NULL,
    CONSTRAINT audit_entry_action_check CHECK ((action <> ''::text)),
    CONSTRAINT audit_entry_who_check CHECK ((who <> ''::text))
);

CREATE TABLE public.configuration (
    singleton boolean DEFAULT true NOT NULL,
    counter bigint DEFAULT 0 NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT configuration_singleton_check CHECK (singleton)
);

CREATE TABLE public.control_number (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    scope text NOT NULL COLLATE pg_catalog."C",
    next bigint NOT NULL
);

CREATE TABLE public.delivery (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    delivery_id uuid NOT NULL,
    seq integer NOT NULL,
    purge_month date NOT NULL,
    received_at timestamp with time zone DEFAULT now() NOT NULL,
    transport text NOT NULL,
    transport_id text,
    message_id text COLLATE pg_catalog."C",
    payload_sha256 bytea,
    verdict text NOT NULL,
    outcome text NOT NULL,
    rule text DEFAULT ''::text NOT NULL,
    status smallint DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    took_us integer DEFAULT 0 NOT NULL,
    payload_id uuid,
    payload_month date,
    ack_id uuid,
    ack_month date,
    alert_id uuid,
    remote text DEFAULT ''::text NOT NULL,
    filename text DEFAULT ''::text NOT NULL,
    detail text DEFAULT ''::text NOT NULL,
    signer text
)
PARTITION BY RANGE (purge_month);

CREATE TABLE public.delivery_default (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    delivery_id uuid NOT NULL,
    seq integer NOT NULL,
    purge_month date NOT NULL,
    received_at timestamp with time zone DEFAULT now() NOT NULL,
    transport text NOT NULL,
    transport_id text,
    message_id text COLLATE pg_catalog."C",
    payload_sha256 bytea,
    verdict text NOT NULL,
    outcome text NOT NULL,
    rule text DEFAULT ''::text NOT NULL,
    status smallint DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    took_us integer DEFAULT 0 NOT NULL,
    payload_id uuid,
    payload_month date,
    ack_id uuid,
    ack_month date,
    alert_id uuid,
    remote text DEFAULT ''::text NOT NULL,
    filename text DEFAULT ''::text NOT NULL,
    detail text DEFAULT ''::text NOT NULL,
    signer text
);

CREATE TABLE public.delivery_held (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    delivery_id uuid NOT NULL,
    seq integer NOT NULL,
    purge_month date NOT NULL,
    received_at timestamp with time zone DEFAULT now() NOT NULL,
    transport text NOT NULL,
    transport_id text,
    message_id text COLLATE pg_catalog."C",
    payload_sha256 bytea,
    verdict text NOT NULL,
    outcome text NOT NULL,
    rule text DEFAULT ''::text NOT NULL,
    status smallint DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    took_us integer DEFAULT 0 NOT NULL,
    payload_id uuid,
    payload_month date,
    ack_id uuid,
    ack_month date,
    alert_id uuid,
    remote text DEFAULT ''::text NOT NULL,
    filename text DEFAULT ''::text NOT NULL,
    detail text DEFAULT ''::text NOT NULL,
    signer text
);

CREATE TABLE public.document (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    document_id uuid NOT NULL,
    class text NOT NULL COLLATE pg_catalog."C",
    type_code text NOT NULL COLLATE pg_catalog."C",
    number text NOT NULL COLLATE pg_catalog."C",
    issue_date date,
    function_code text DEFAULT ''::text NOT NULL,
    test boolean DEFAULT false NOT NULL,
    state text NOT NULL,
    revision integer DEFAULT 1 NOT NULL,
    supersedes uuid,
    superseded_by uuid,
    cancelled_by uuid,
    stamp text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    message_type text DEFAULT ''::text NOT NULL,
    issuer_id text,
    issuer_scheme text,
    supplier_id text,
    supplier_name text,
    buyer_id text,
    buyer_name text,
    order_reference text,
    currency text,
    due_date date,
    line_total numeric,
    allowance_total numeric,
    charge_total numeric,
    tax_exclusive numeric,
    tax_total numeric,
    tax_inclusive numeric,
    prepaid numeric,
    rounding numeric,
    payable numeric,
    line_count integer DEFAULT 0 NOT NULL,
    package_count integer DEFAULT 0 NOT NULL,
    message_id text NOT NULL COLLATE pg_catalog."C",
    epoch integer DEFAULT 0 NOT NULL,
    message_sha256 bytea NOT NULL,
    message_reference text DEFAULT ''::text NOT NULL,
    message_index integer DEFAULT 0 NOT NULL,
    received_at timestamp with time zone DEFAULT now() NOT NULL,
    purge_on date,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL,
    segments jsonb,
    report text DEFAULT ''::text NOT NULL,
    reported_at timestamp with time zone,
    reported_by text DEFAULT ''::text NOT NULL,
    report_note text DEFAULT ''::text NOT NULL,
    cancelled_stamp text COLLATE pg_catalog."C"
);
ALTER TABLE ONLY public.document ALTER COLUMN detail SET COMPRESSION lz4;
ALTER TABLE ONLY public.document ALTER COLUMN segments SET COMPRESSION lz4;

CREATE TABLE public.document_key (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    document_key bytea NOT NULL,
    contents bytea NOT NULL,
    document_ids uuid[] NOT NULL,
    message_id text COLLATE pg_catalog."C",
    stamp text DEFAULT ''::text NOT NULL,
    imported boolean DEFAULT false NOT NULL,
    first_at timestamp with time zone DEFAULT now() NOT NULL,
    purge_on date NOT NULL
);

CREATE TABLE public.document_line (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    document_id uuid NOT NULL,
    line integer NOT NULL,
    line_no text,
    sub_of text,
    package integer,
    gtin text,
    supplier_item text,
    buyer_item text,
    description text,
    quantity numeric,
    unit text,
    ordered_quantity numeric,
    price numeric,
    price_basis numeric,
    price_unit text,
    net_amount numeric,
    tax_category text,
    tax_rate numeric,
    order_reference text,
    order_line text,
    batch text,
    best_before date,
    rest jsonb
);
ALTER TABLE ONLY public.document_line ALTER COLUMN rest SET COMPRESSION lz4;

CREATE TABLE public.document_package (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    document_id uuid NOT NULL,
    package integer NOT NULL,
    parent integer,
    hierarchy_id text,
    hierarchy_parent text,
    level text,
    type text,
    quantity numeric,
    sscc text COLLATE pg_catalog."C",
    sscc_valid boolean,
    marks text,
    gross_weight numeric,
    weight_unit text,
    rest jsonb
);
ALTER TABLE ONLY public.document_package ALTER COLUMN rest SET COMPRESSION lz4;

CREATE TABLE public.drift_alert (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    alert_id uuid NOT NULL,
    kind text NOT NULL,
    message_id text NOT NULL COLLATE pg_catalog."C",
    epoch integer DEFAULT 0 NOT NULL,
    state text NOT NULL,
    class text NOT NULL,
    severity text NOT NULL,
    headline text DEFAULT ''::text NOT NULL,
    original_sha256 bytea,
    digests bytea[] NOT NULL,
    documents text[] DEFAULT '{}'::text[] NOT NULL,
    proposal text DEFAULT ''::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    receptions integer DEFAULT 1 NOT NULL,
    opened_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    test boolean DEFAULT false NOT NULL,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL,
    assignee text DEFAULT ''::text NOT NULL,
    proposed text DEFAULT ''::text NOT NULL,
    proposed_digest bytea,
    proposed_by text DEFAULT ''::text NOT NULL,
    proposed_at timestamp with time zone,
    proposed_reason text DEFAULT ''::text NOT NULL,
    proposed_note text DEFAULT ''::text NOT NULL,
    proposed_facts jsonb,
    decision text DEFAULT ''::text NOT NULL,
    decided_by text DEFAULT ''::text NOT NULL,
    approved_by text DEFAULT ''::text NOT NULL,
    decided_at timestamp with time zone,
    decided_reason text DEFAULT ''::text NOT NULL,
    decided_note text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.drift_copy (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    content bytea NOT NULL,
    alert_id uuid NOT NULL,
    opened_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.effect (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    event_id uuid NOT NULL,
    target text NOT NULL COLLATE pg_catalog."C",
    event_month date NOT NULL,
    state smallint DEFAULT 1 NOT NULL,
    due_at timestamp with time zone DEFAULT now() NOT NULL,
    lease_id uuid,
    attempts smallint DEFAULT 0 NOT NULL,
    failure text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone,
    place text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.effect_attempt (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    attempt_id uuid NOT NULL,
    event_id uuid NOT NULL,
    target text NOT NULL COLLATE pg_catalog."C",
    at timestamp with time zone DEFAULT now() NOT NULL,
    address text NOT NULL,
    failure text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.effect_pause (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    target text NOT NULL COLLATE pg_catalog."C",
    failures integer NOT NULL,
    due_at timestamp with time zone NOT NULL
);

CREATE TABLE public.evidence (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    payload_id uuid NOT NULL,
    exhibit smallint NOT NULL,
    seq integer NOT NULL,
    purge_month date NOT NULL,
    name text NOT NULL,
    media_type text NOT NULL,
    stretches jsonb,
    body bytea NOT NULL
)
PARTITION BY RANGE (purge_month);
ALTER TABLE ONLY public.evidence ALTER COLUMN body SET COMPRESSION lz4;

CREATE TABLE public.evidence_default (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    payload_id uuid NOT NULL,
    exhibit smallint NOT NULL,
    seq integer NOT NULL,
    purge_month date NOT NULL,
    name text NOT NULL,
    media_type text NOT NULL,
    stretches jsonb,
    body bytea NOT NULL
);
ALTER TABLE ONLY public.evidence_default ALTER COLUMN body SET COMPRESSION lz4;

CREATE TABLE public.evidence_held (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    payload_id uuid NOT NULL,
    exhibit smallint NOT NULL,
    seq integer NOT NULL,
    purge_month date NOT NULL,
    name text NOT NULL,
    media_type text NOT NULL,
    stretches jsonb,
    body bytea NOT NULL
);
ALTER TABLE ONLY public.evidence_held ALTER COLUMN body SET COMPRESSION lz4;

CREATE TABLE public.expiry_told (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    fingerprint bytea NOT NULL,
    days smallint NOT NULL,
    not_after timestamp with time zone NOT NULL,
    told_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.functional_acknowledgement (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    event_id uuid NOT NULL,
    event_month date NOT NULL,
    reference text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL,
    by text NOT NULL,
    message_id text NOT NULL COLLATE pg_catalog."C",
    payload_sha256 bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    answered_by text DEFAULT ''::text NOT NULL,
    acceptance text DEFAULT ''::text NOT NULL,
    answer_id text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    answered_at timestamp with time zone,
    group_reference text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    message_reference text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    groups jsonb,
    binding bytea
);

CREATE TABLE public.functional_answer (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    answer_id text NOT NULL COLLATE pg_catalog."C",
    answer_sha256 bytea NOT NULL,
    seq integer NOT NULL,
    event_id uuid NOT NULL,
    kind text NOT NULL,
    acceptance text NOT NULL,
    told jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    part text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C"
);

CREATE TABLE public.habit (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    delivery_id uuid NOT NULL,
    seq integer NOT NULL,
    evidence jsonb NOT NULL,
    silence text DEFAULT 'auto'::text NOT NULL,
    heard_at timestamp with time zone,
    counted_from timestamp with time zone,
    expected_at timestamp with time zone,
    expected_by timestamp with time zone,
    silent_since timestamp with time zone,
    silent_event uuid
);

CREATE TABLE public.habit_outage (
    began_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone NOT NULL
);

CREATE TABLE public.habit_pass (
    singleton boolean DEFAULT true NOT NULL,
    lease_id uuid,
    leased_until timestamp with time zone,
    up_at timestamp with time zone NOT NULL,
    CONSTRAINT habit_pass_singleton_check CHECK (singleton)
);

CREATE TABLE public.habit_series (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    series text NOT NULL COLLATE pg_catalog."C",
    test boolean NOT NULL,
    state jsonb NOT NULL,
    last_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone
);

CREATE TABLE public.inbox (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    message_id text NOT NULL COLLATE pg_catalog."C",
    kind smallint NOT NULL,
    epoch integer DEFAULT 0 NOT NULL,
    current_sha256 bytea,
    first_at timestamp with time zone DEFAULT now() NOT NULL,
    last_at timestamp with time zone DEFAULT now() NOT NULL,
    hold smallint DEFAULT 0 NOT NULL,
    purge_on date NOT NULL,
    carried text[],
    payload_sha256 bytea,
    content_sha256 bytea,
    content_version smallint DEFAULT 0 NOT NULL,
    state smallint NOT NULL,
    variant_epoch integer DEFAULT 0 NOT NULL,
    via smallint DEFAULT 0 NOT NULL,
    answer smallint NOT NULL,
    messages bytea NOT NULL,
    delivery_id uuid NOT NULL,
    payload_id uuid,
    payload_month date,
    payload_offset bigint DEFAULT 0 NOT NULL,
    payload_length bigint DEFAULT 0 NOT NULL,
    ack_id uuid,
    ack_month date,
    alert_id uuid
);

CREATE TABLE public.job (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    message_id text NOT NULL COLLATE pg_catalog."C",
    payload_sha256 bytea NOT NULL,
    due_at timestamp with time zone DEFAULT now() NOT NULL,
    lease_id uuid,
    failures smallint DEFAULT 0 NOT NULL,
    lost smallint DEFAULT 0 NOT NULL,
    failure text DEFAULT ''::text NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL,
    passing smallint DEFAULT 0 NOT NULL
);

CREATE TABLE public.key_import (
    import_id uuid NOT NULL,
    file_sha256 bytea NOT NULL,
    name text NOT NULL,
    person text NOT NULL,
    dry_run boolean DEFAULT false NOT NULL,
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    rows_done bigint DEFAULT 0 NOT NULL,
    added bigint DEFAULT 0 NOT NULL,
    known bigint DEFAULT 0 NOT NULL,
    differs bigint DEFAULT 0 NOT NULL,
    faulty bigint DEFAULT 0 NOT NULL,
    expired bigint DEFAULT 0 NOT NULL,
    CONSTRAINT key_import_file_sha256_check CHECK ((length(file_sha256) = 32))
);

CREATE TABLE public.legal_hold (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    message_id text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL,
    held_by text NOT NULL,
    held_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT legal_hold_reason_check CHECK ((reason <> ''::text))
);

CREATE TABLE public.message_state (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    message_id text NOT NULL COLLATE pg_catalog."C",
    payload_sha256 bytea NOT NULL,
    seq integer NOT NULL,
    records bytea NOT NULL
);
ALTER TABLE ONLY public.message_state ALTER COLUMN records SET STORAGE EXTERNAL;

CREATE TABLE public.organisation (
    organisation_id text NOT NULL COLLATE pg_catalog."C",
    spec jsonb NOT NULL,
    applied_at timestamp with time zone NOT NULL,
    revision integer DEFAULT 1 NOT NULL
);

CREATE TABLE public.organisation_revision (
    organisation_id text NOT NULL COLLATE pg_catalog."C",
    revision integer NOT NULL,
    cause text NOT NULL,
    spec jsonb NOT NULL,
    applied_by text DEFAULT ''::text NOT NULL,
    applied_at timestamp with time zone NOT NULL
);

CREATE TABLE public.outbox (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    event_id uuid NOT NULL,
    purge_month date NOT NULL,
    kind text NOT NULL,
    type text NOT NULL,
    subject text DEFAULT ''::text NOT NULL,
    body jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    state smallint DEFAULT 0 NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    next_at timestamp with time zone
)
PARTITION BY RANGE (purge_month);

CREATE TABLE public.outbox_default (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    event_id uuid NOT NULL,
    purge_month date NOT NULL,
    kind text NOT NULL,
    type text NOT NULL,
    subject text DEFAULT ''::text NOT NULL,
    body jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    state smallint DEFAULT 0 NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    next_at timestamp with time zone
);

CREATE TABLE public.outbox_held (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    event_id uuid NOT NULL,
    purge_month date NOT NULL,
    kind text NOT NULL,
    type text NOT NULL,
    subject text DEFAULT ''::text NOT NULL,
    body jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    state smallint DEFAULT 0 NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    next_at timestamp with time zone
);

CREATE TABLE public.outgoing (
    id boolean DEFAULT true NOT NULL,
    system_identifier bigint,
    database_oid oid NOT NULL,
    table_oid oid NOT NULL,
    row_xid xid NOT NULL,
    held_since timestamp with time zone,
    held_by text DEFAULT ''::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    confirmed_at timestamp with time zone,
    confirmed_by text DEFAULT ''::text NOT NULL,
    CONSTRAINT outgoing_id_check CHECK (id)
);

CREATE TABLE public.partner (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    organisation_id text NOT NULL COLLATE pg_catalog."C",
    revision integer NOT NULL,
    connected_on date NOT NULL,
    spec jsonb NOT NULL,
    earlier_keys jsonb NOT NULL,
    applied_at timestamp with time zone NOT NULL
);

CREATE TABLE public.partner_identifier (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    qualifier text NOT NULL COLLATE pg_catalog."C",
    identifier text NOT NULL COLLATE pg_catalog."C"
);

CREATE TABLE public.partner_revision (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    revision integer NOT NULL,
    cause text NOT NULL,
    spec jsonb NOT NULL,
    applied_at timestamp with time zone NOT NULL,
    applied_by text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.partner_token (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    token_id uuid NOT NULL,
    label text NOT NULL,
    sha256 bytea NOT NULL,
    declared boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT partner_token_sha256_check CHECK ((length(sha256) = 32))
);

CREATE TABLE public.payload (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    payload_id uuid NOT NULL,
    seq integer NOT NULL,
    purge_month date NOT NULL,
    body bytea NOT NULL
)
PARTITION BY RANGE (purge_month);
ALTER TABLE ONLY public.payload ALTER COLUMN body SET COMPRESSION lz4;

CREATE TABLE public.payload_default (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    payload_id uuid NOT NULL,
    seq integer NOT NULL,
    purge_month date NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY public.payload_default ALTER COLUMN body SET COMPRESSION lz4;

CREATE TABLE public.payload_held (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    payload_id uuid NOT NULL,
    seq integer NOT NULL,
    purge_month date NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY public.payload_held ALTER COLUMN body SET COMPRESSION lz4;

CREATE TABLE public.private_key (
    organisation_id text NOT NULL COLLATE pg_catalog."C",
    key_id uuid NOT NULL,
    label text NOT NULL,
    purposes text[] NOT NULL,
    algorithm text NOT NULL,
    spki_sha256 bytea NOT NULL,
    sealed bytea NOT NULL,
    sealed_under bytea NOT NULL,
    certificates bytea[] NOT NULL,
    use_from timestamp with time zone NOT NULL,
    use_until timestamp with time zone,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    retired_at timestamp with time zone,
    successor_of uuid,
    CONSTRAINT private_key_certificates_check CHECK ((cardinality(certificates) > 0)),
    CONSTRAINT private_key_purposes_check CHECK ((cardinality(purposes) > 0)),
    CONSTRAINT private_key_sealed_under_check CHECK ((length(sealed_under) = 8)),
    CONSTRAINT private_key_spki_sha256_check CHECK ((length(spki_sha256) = 32))
);

CREATE TABLE public.private_key_certificate (
    organisation_id text NOT NULL COLLATE pg_catalog."C",
    key_id uuid NOT NULL,
    sha256 bytea NOT NULL,
    chain bytea[] NOT NULL,
    use_from timestamp with time zone NOT NULL,
    added_by text NOT NULL,
    added_at timestamp with time zone NOT NULL,
    CONSTRAINT private_key_certificate_chain_check CHECK ((cardinality(chain) > 0)),
    CONSTRAINT private_key_certificate_sha256_check CHECK ((length(sha256) = 32))
);

CREATE TABLE public.purge (
    singleton boolean DEFAULT true NOT NULL,
    run_id uuid,
    node text DEFAULT ''::text NOT NULL,
    lease_until timestamp with time zone,
    paused_at timestamp with time zone,
    paused_by text DEFAULT ''::text NOT NULL,
    paused_for text DEFAULT ''::text NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    jumped_from timestamp with time zone,
    jumped_to timestamp with time zone,
    CONSTRAINT purge_singleton_check CHECK (singleton)
);

CREATE TABLE public.purge_run (
    run_id uuid NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    ended_at timestamp with time zone,
    state text NOT NULL,
    node text NOT NULL,
    started_by text DEFAULT ''::text NOT NULL,
    resumes uuid,
    reason text DEFAULT ''::text NOT NULL,
    CONSTRAINT purge_run_state_check CHECK ((state = ANY (ARRAY['running'::text, 'done'::text, 'refused'::text, 'failed'::text, 'stopped'::text])))
);

CREATE TABLE public.purge_settled (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    windows jsonb NOT NULL,
    settled_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.purge_step (
    run_id uuid NOT NULL,
    partner_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    rows bigint NOT NULL,
    bytes bigint NOT NULL
);

CREATE TABLE public.sequence_gap (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    gap_id uuid NOT NULL,
    series text NOT NULL COLLATE pg_catalog."C",
    test boolean NOT NULL,
    numbers bigint[] NOT NULL,
    missing bigint[] NOT NULL,
    width smallint NOT NULL,
    before text NOT NULL,
    after text NOT NULL,
    since timestamp with time zone NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone,
    cause text DEFAULT ''::text NOT NULL,
    closed_by text DEFAULT ''::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.subscription (
    name text NOT NULL COLLATE pg_catalog."C",
    spec jsonb NOT NULL,
    revision integer DEFAULT 1 NOT NULL,
    from_xid xid8 NOT NULL,
    paused_at timestamp with time zone,
    paused_by text DEFAULT ''::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    failure text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.subscription_attempt (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    attempt_id uuid NOT NULL,
    subscription text NOT NULL COLLATE pg_catalog."C",
    event_id uuid NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    status smallint NOT NULL,
    took_ms integer NOT NULL,
    failure text DEFAULT ''::text NOT NULL,
    answer text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.subscription_event (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    subscription text NOT NULL COLLATE pg_catalog."C",
    event_id uuid NOT NULL,
    event_month date NOT NULL,
    state smallint NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    failure text DEFAULT ''::text NOT NULL,
    due_at timestamp with time zone DEFAULT now() NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.subscription_stream (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    subscription text NOT NULL COLLATE pg_catalog."C",
    xid xid8 NOT NULL,
    event_id uuid NOT NULL,
    due_at timestamp with time zone DEFAULT now() NOT NULL,
    lease_id uuid,
    attempts integer DEFAULT 0 NOT NULL,
    refusals integer DEFAULT 0 NOT NULL,
    failure text DEFAULT ''::text NOT NULL,
    failing_since timestamp with time zone,
    paused_at timestamp with time zone,
    sent bigint DEFAULT 0 NOT NULL,
    sent_at timestamp with time zone
)
WITH (fillfactor='50');

CREATE TABLE public.variant (
    partner_id text NOT NULL COLLATE pg_catalog."C",
    message_id text NOT NULL COLLATE pg_catalog."C",
    payload_sha256 bytea NOT NULL,
    content_sha256 bytea,
    content_version smallint DEFAULT 0 NOT NULL,
    state smallint NOT NULL,
    variant_epoch integer DEFAULT 0 NOT NULL,
    via smallint DEFAULT 0 NOT NULL,
    answer smallint NOT NULL,
    messages bytea NOT NULL,
    delivery_id uuid NOT NULL,
    payload_id uuid,
    payload_month date,
    payload_offset bigint DEFAULT 0 NOT NULL,
    payload_length bigint DEFAULT 0 NOT NULL,
    ack_id uuid,
    ack_month date,
    alert_id uuid,
    first_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.acknowledgement ATTACH PARTITION public.acknowledgement_default DEFAULT;

ALTER TABLE ONLY public.acknowledgement ATTACH PARTITION public.acknowledgement_held FOR VALUES FROM ('9999-01-01') TO (MAXVALUE);

ALTER TABLE ONLY public.delivery ATTACH PARTITION public.delivery_default DEFAULT;

ALTER TABLE ONLY public.delivery ATTACH PARTITION public.delivery_held FOR VALUES FROM ('9999-01-01') TO (MAXVALUE);

ALTER TABLE ONLY public.evidence ATTACH PARTITION public.evidence_default DEFAULT;

ALTER TABLE ONLY public.evidence ATTACH PARTITION public.evidence_held FOR VALUES FROM ('9999-01-01') TO (MAXVALUE);

ALTER TABLE ONLY public.outbox ATTACH PARTITION public.outbox_default DEFAULT;

ALTER TABLE ONLY public.outbox ATTACH PARTITION public.outbox_held FOR VALUES FROM ('9999-01-01') TO (MAXVALUE);

ALTER TABLE ONLY public.payload ATTACH PARTITION public.payload_default DEFAULT;

ALTER TABLE ONLY public.payload ATTACH PARTITION public.payload_held FOR VALUES FROM ('9999-01-01') TO (MAXVALUE);

ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (person);

ALTER TABLE ONLY public.acknowledgement
    ADD CONSTRAINT acknowledgement_pkey PRIMARY KEY (partner_id, ack_id, purge_month);

ALTER TABLE ONLY public.acknowledgement_default
    ADD CONSTRAINT acknowledgement_default_pkey PRIMARY KEY (partner_id, ack_id, purge_month);

ALTER TABLE ONLY public.acknowledgement_held
    ADD CONSTRAINT acknowledgement_held_pkey PRIMARY KEY (partner_id, ack_id, purge_month);

ALTER TABLE ONLY public.api_token
    ADD CONSTRAINT api_token_is_one_persons UNIQUE (sha256);

ALTER TABLE ONLY public.api_token
    ADD CONSTRAINT api_token_pkey PRIMARY KEY (token_id);

ALTER TABLE ONLY public.audit_entry
    ADD CONSTRAINT audit_entry_pkey PRIMARY KEY (entry_id);

ALTER TABLE ONLY public.configuration
    ADD CONSTRAINT configuration_pkey PRIMARY KEY (singleton);

ALTER TABLE ONLY public.control_number
    ADD CONSTRAINT control_number_pkey PRIMARY KEY (partner_id, scope);

ALTER TABLE ONLY public.delivery
    ADD CONSTRAINT delivery_pkey PRIMARY KEY (partner_id, delivery_id, seq, purge_month);

ALTER TABLE ONLY public.delivery_default
    ADD CONSTRAINT delivery_default_pkey PRIMARY KEY (partner_id, delivery_id, seq, purge_month);

ALTER TABLE ONLY public.delivery_held
    ADD CONSTRAINT delivery_held_pkey PRIMARY KEY (partner_id, delivery_id, seq, purge_month);

ALTER TABLE ONLY public.document_key
    ADD CONSTRAINT document_key_pkey PRIMARY KEY (partner_id, document_key);

ALTER TABLE ONLY public.document_line
    ADD CONSTRAINT document_line_pkey PRIMARY KEY (partner_id, document_id, line);

ALTER TABLE ONLY public.document_package
    ADD CONSTRAINT document_package_pkey PRIMARY KEY (partner_id, document_id, package);

ALTER TABLE ONLY public.document
    ADD CONSTRAINT document_pkey PRIMARY KEY (partner_id, document_id);

ALTER TABLE ONLY public.drift_alert
    ADD CONSTRAINT drift_alert_pkey PRIMARY KEY (partner_id, alert_id);

ALTER TABLE ONLY public.drift_copy
    ADD CONSTRAINT drift_copy_pkey PRIMARY KEY (partner_id, content, alert_id);

ALTER TABLE ONLY public.effect_attempt
    ADD CONSTRAINT effect_attempt_pkey PRIMARY KEY (partner_id, attempt_id);

ALTER TABLE ONLY public.effect_pause
    ADD CONSTRAINT effect_pause_pkey PRIMARY KEY (partner_id, target);

ALTER TABLE ONLY public.effect
    ADD CONSTRAINT effect_pkey PRIMARY KEY (partner_id, event_id, target);

ALTER TABLE ONLY public.evidence
    ADD CONSTRAINT evidence_pkey PRIMARY KEY (partner_id, payload_id, exhibit, seq, purge_month);

ALTER TABLE ONLY public.evidence_default
    ADD CONSTRAINT evidence_default_pkey PRIMARY KEY (partner_id, payload_id, exhibit, seq, purge_month);

ALTER TABLE ONLY public.evidence_held
    ADD CONSTRAINT evidence_held_pkey PRIMARY KEY (partner_id, payload_id, exhibit, seq, purge_month);

ALTER TABLE ONLY public.expiry_told
    ADD CONSTRAINT expiry_told_pkey PRIMARY KEY (partner_id, fingerprint, days);

ALTER TABLE ONLY public.functional_acknowledgement
    ADD CONSTRAINT functional_acknowledgement_pkey PRIMARY KEY (partner_id, event_id);

ALTER TABLE ONLY public.functional_answer
    ADD CONSTRAINT functional_answer_pkey PRIMARY KEY (partner_id, answer_id, answer_sha256, seq);

ALTER TABLE ONLY public.habit_outage
    ADD CONSTRAINT habit_outage_pkey PRIMARY KEY (began_at);

ALTER TABLE ONLY public.habit_pass
    ADD CONSTRAINT habit_pass_pkey PRIMARY KEY (singleton);

ALTER TABLE ONLY public.habit
    ADD CONSTRAINT habit_pkey PRIMARY KEY (partner_id);

ALTER TABLE ONLY public.habit_series
    ADD CONSTRAINT habit_series_pkey PRIMARY KEY (partner_id, series);

ALTER TABLE ONLY public.inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (partner_id, message_id);

ALTER TABLE ONLY public.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (partner_id, message_id, payload_sha256);

ALTER TABLE ONLY public.key_import
    ADD CONSTRAINT key_import_pkey PRIMARY KEY (import_id);

ALTER TABLE ONLY public.legal_hold
    ADD CONSTRAINT legal_hold_pkey PRIMARY KEY (partner_id, message_id);

ALTER TABLE ONLY public.message_state
    ADD CONSTRAINT message_state_pkey PRIMARY KEY (partner_id, message_id, payload_sha256, seq);

ALTER TABLE ONLY public.organisation
    ADD CONSTRAINT organisation_pkey PRIMARY KEY (organisation_id);

ALTER TABLE ONLY public.organisation_revision
    ADD CONSTRAINT organisation_revision_pkey PRIMARY KEY (organisation_id, revision);

ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (partner_id, event_id, purge_month);

ALTER TABLE ONLY public.outbox_default
    ADD CONSTRAINT outbox_default_pkey PRIMARY KEY (partner_id, event_id, purge_month);

ALTER TABLE ONLY public.outbox_held
    ADD CONSTRAINT outbox_held_pkey PRIMARY KEY (partner_id, event_id, purge_month);

ALTER TABLE ONLY public.outgoing
    ADD CONSTRAINT outgoing_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.partner_identifier
    ADD CONSTRAINT partner_identifier_is_one_partners UNIQUE (qualifier, identifier);

ALTER TABLE ONLY public.partner_identifier
    ADD CONSTRAINT partner_identifier_pkey PRIMARY KEY (partner_id, qualifier, identifier);

ALTER TABLE ONLY public.partner
    ADD CONSTRAINT partner_pkey PRIMARY KEY (partner_id);

ALTER TABLE ONLY public.partner_revision
    ADD CONSTRAINT partner_revision_pkey PRIMARY KEY (partner_id, revision);

ALTER TABLE ONLY public.partner_token
    ADD CONSTRAINT partner_token_is_one_partners UNIQUE (sha256);

ALTER TABLE ONLY public.partner_token
    ADD CONSTRAINT partner_token_pkey PRIMARY KEY (partner_id, token_id);

ALTER TABLE ONLY public.payload
    ADD CONSTRAINT payload_pkey PRIMARY KEY (partner_id, payload_id, seq, purge_month);

ALTER TABLE ONLY public.payload_default
    ADD CONSTRAINT payload_default_pkey PRIMARY KEY (partner_id, payload_id, seq, purge_month);

ALTER TABLE ONLY public.payload_held
    ADD CONSTRAINT payload_held_pkey PRIMARY KEY (partner_id, payload_id, seq, purge_month);

ALTER TABLE ONLY public.private_key_certificate
    ADD CONSTRAINT private_key_certificate_pkey PRIMARY KEY (organisation_id, key_id, sha256);

ALTER TABLE ONLY public.private_key
    ADD CONSTRAINT private_key_pkey PRIMARY KEY (organisation_id, key_id);

ALTER TABLE ONLY public.purge
    ADD CONSTRAINT purge_pkey PRIMARY KEY (singleton);

ALTER TABLE ONLY public.purge_run
    ADD CONSTRAINT purge_run_pkey PRIMARY KEY (run_id);

ALTER TABLE ONLY public.purge_settled
    ADD CONSTRAINT purge_settled_pkey PRIMARY KEY (partner_id);

ALTER TABLE ONLY public.purge_step
    ADD CONSTRAINT purge_step_pkey PRIMARY KEY (run_id, partner_id, kind, reason);

ALTER TABLE ONLY public.sequence_gap
    ADD CONSTRAINT sequence_gap_pkey PRIMARY KEY (partner_id, gap_id);

ALTER TABLE ONLY public.subscription_attempt
    ADD CONSTRAINT subscription_attempt_pkey PRIMARY KEY (partner_id, attempt_id);

ALTER TABLE ONLY public.subscription_event
    ADD CONSTRAINT subscription_event_pkey PRIMARY KEY (partner_id, subscription, event_id);

ALTER TABLE ONLY public.subscription
    ADD CONSTRAINT subscription_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.subscription_stream
    ADD CONSTRAINT subscription_stream_pkey PRIMARY KEY (partner_id, subscription);

ALTER TABLE ONLY public.variant
    ADD CONSTRAINT variant_pkey PRIMARY KEY (partner_id, message_id, payload_sha256);

CREATE INDEX audit_entry_at ON public.audit_entry USING btree (at, entry_id);

CREATE INDEX audit_entry_partner ON public.audit_entry USING btree (partner_id, at) WHERE (partner_id IS NOT NULL);

CREATE INDEX delivery_message ON ONLY public.delivery USING btree (partner_id, message_id);

CREATE INDEX delivery_default_partner_id_message_id_idx ON public.delivery_default USING btree (partner_id, message_id);

CREATE INDEX delivery_refused ON ONLY public.delivery USING btree (partner_id, delivery_id) INCLUDE (received_at, bytes, payload_id) WHERE ((verdict = 'refused'::text) OR ((message_id IS NULL) AND (transport_id IS NULL)));

CREATE INDEX delivery_default_refused ON public.delivery_default USING btree (partner_id, delivery_id) INCLUDE (received_at, bytes, payload_id) WHERE ((verdict = 'refused'::text) OR ((message_id IS NULL) AND (transport_id IS NULL)));

CREATE INDEX delivery_held_partner_id_message_id_idx ON public.delivery_held USING btree (partner_id, message_id);

CREATE INDEX delivery_held_refused ON public.delivery_held USING btree (partner_id, delivery_id) INCLUDE (received_at, bytes, payload_id) WHERE ((verdict = 'refused'::text) OR ((message_id IS NULL) AND (transport_id IS NULL)));

CREATE INDEX document_key_purge ON public.document_key USING btree (purge_on);

CREATE INDEX document_message ON public.document USING btree (partner_id, message_id);

CREATE INDEX document_number ON public.document USING btree (partner_id, number);

CREATE INDEX document_order ON public.document USING btree (partner_id, order_reference) WHERE (octet_length(order_reference) <= 140);

CREATE INDEX document_package_unit ON public.document_package USING btree (partner_id, sscc, document_id) WHERE (sscc IS NOT NULL);

CREATE INDEX document_purge ON public.document USING btree (purge_on) WHERE (purge_on IS NOT NULL);

CREATE INDEX drift_alert_key ON public.drift_alert USING btree (partner_id, message_id);

CREATE INDEX drift_alert_open ON public.drift_alert USING btree (state, severity, opened_at) WHERE (state = ANY (ARRAY['open'::text, 'in_review'::text, 'awaiting_approval'::text]));

CREATE INDEX drift_alert_undecided ON public.drift_alert USING btree (partner_id, message_id) WHERE (state = ANY (ARRAY['open'::text, 'in_review'::text, 'awaiting_approval'::text]));

CREATE INDEX effect_attempt_event ON public.effect_attempt USING btree (partner_id, event_id, target);

CREATE INDEX effect_done ON public.effect USING btree (event_month) WHERE (state = 3);

CREATE INDEX effect_due ON public.effect USING btree (target, partner_id, due_at) WHERE (state = ANY (ARRAY[1, 2]));

CREATE INDEX effect_open_month ON public.effect USING btree (event_month) WHERE (state <> 3);

CREATE INDEX effect_stuck ON public.effect USING btree (partner_id, event_id) WHERE (state = ANY (ARRAY[4, 5]));

CREATE INDEX functional_acknowledgement_message ON public.functional_acknowledgement USING btree (partner_id, message_id);

CREATE INDEX functional_acknowledgement_reference ON public.functional_acknowledgement USING btree (partner_id, reference);

CREATE INDEX functional_answer_acknowledgement ON public.functional_answer USING btree (partner_id, event_id);

CREATE INDEX habit_due ON public.habit USING btree (expected_by) WHERE (silent_since IS NULL);

CREATE INDEX habit_series_due ON public.habit_series USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX inbox_dead ON public.inbox USING btree (partner_id, message_id) WHERE (((hold)::integer & 8) <> 0);

CREATE INDEX inbox_held ON public.inbox USING btree (partner_id, message_id) WHERE (hold <> 0);

CREATE INDEX inbox_payload_held ON public.inbox USING btree (partner_id, payload_id) WHERE (payload_month = '9999-01-01'::date);

CREATE INDEX inbox_purge ON public.inbox USING btree (purge_on) WHERE (hold = 0);

CREATE INDEX inbox_unfinished ON public.inbox USING btree (partner_id, message_id) WHERE (state = ANY (ARRAY[3, 4, 5]));

CREATE INDEX job_due ON public.job USING btree (partner_id, due_at);

CREATE UNIQUE INDEX key_import_file ON public.key_import USING btree (file_sha256) WHERE (NOT dry_run);

CREATE INDEX outbox_pending ON ONLY public.outbox USING btree (next_at) WHERE (state = ANY (ARRAY[1, 2]));

CREATE INDEX outbox_default_next_at_idx ON public.outbox_default USING btree (next_at) WHERE (state = ANY (ARRAY[1, 2]));

CREATE INDEX outbox_order ON ONLY public.outbox USING btree (partner_id, xid, event_id);

CREATE INDEX outbox_default_order ON public.outbox_default USING btree (partner_id, xid, event_id);

CREATE INDEX outbox_held_next_at_idx ON public.outbox_held USING btree (next_at) WHERE (state = ANY (ARRAY[1, 2]));

CREATE INDEX outbox_held_order ON public.outbox_held USING btree (partner_id, xid, event_id);

CREATE UNIQUE INDEX partner_token_label ON public.partner_token USING btree (partner_id, label) WHERE (revoked_at IS NULL);

CREATE UNIQUE INDEX private_key_label ON public.private_key USING btree (organisation_id, label) WHERE (retired_at IS NULL);

CREATE INDEX purge_run_started ON public.purge_run USING btree (started_at);

CREATE INDEX sequence_gap_open ON public.sequence_gap USING btree (partner_id, series) WHERE (closed_at IS NULL);

CREATE INDEX subscription_attempt_at ON public.subscription_attempt USING btree (at);

CREATE INDEX subscription_attempt_event ON public.subscription_attempt USING btree (partner_id, event_id);

CREATE INDEX variant_payload_held ON public.variant USING btree (partner_id, payload_id) WHERE (payload_month = '9999-01-01'::date);

CREATE INDEX variant_refused ON public.variant USING btree (partner_id, message_id, content_sha256) WHERE (state = 7);

CREATE INDEX variant_standing ON public.variant USING btree (partner_id, message_id) WHERE (state <> ALL (ARRAY[6, 7]));

ALTER INDEX public.acknowledgement_pkey ATTACH PARTITION public.acknowledgement_default_pkey;

ALTER INDEX public.acknowledgement_pkey ATTACH PARTITION public.acknowledgement_held_pkey;

ALTER INDEX public.delivery_message ATTACH PARTITION public.delivery_default_partner_id_message_id_idx;

ALTER INDEX public.delivery_pkey ATTACH PARTITION public.delivery_default_pkey;

ALTER INDEX public.delivery_refused ATTACH PARTITION public.delivery_default_refused;

ALTER INDEX public.delivery_message ATTACH PARTITION public.delivery_held_partner_id_message_id_idx;

ALTER INDEX public.delivery_pkey ATTACH PARTITION public.delivery_held_pkey;

ALTER INDEX public.delivery_refused ATTACH PARTITION public.delivery_held_refused;

ALTER INDEX public.evidence_pkey ATTACH PARTITION public.evidence_default_pkey;

ALTER INDEX public.evidence_pkey ATTACH PARTITION public.evidence_held_pkey;

ALTER INDEX public.outbox_pending ATTACH PARTITION public.outbox_default_next_at_idx;

ALTER INDEX public.outbox_order ATTACH PARTITION public.outbox_default_order;

ALTER INDEX public.outbox_pkey ATTACH PARTITION public.outbox_default_pkey;

ALTER INDEX public.outbox_pending ATTACH PARTITION public.outbox_held_next_at_idx;

ALTER INDEX public.outbox_order ATTACH PARTITION public.outbox_held_order;

ALTER INDEX public.outbox_pkey ATTACH PARTITION public.outbox_held_pkey;

ALTER INDEX public.payload_pkey ATTACH PARTITION public.payload_default_pkey;

ALTER INDEX public.payload_pkey ATTACH PARTITION public.payload_held_pkey;

CREATE TRIGGER audit_entry_only_grows BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_entry FOR EACH STATEMENT EXECUTE FUNCTION public.audit_entry_only_grows();

ALTER TABLE ONLY public.organisation_revision
    ADD CONSTRAINT organisation_revision_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisation(organisation_id);

ALTER TABLE ONLY public.partner_identifier
    ADD CONSTRAINT partner_identifier_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(partner_id);

ALTER TABLE ONLY public.partner
    ADD CONSTRAINT partner_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisation(organisation_id);

ALTER TABLE ONLY public.partner_revision
    ADD CONSTRAINT partner_revision_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(partner_id);

ALTER TABLE ONLY public.partner_token
    ADD CONSTRAINT partner_token_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partner(partner_id);

ALTER TABLE ONLY public.private_key_certificate
    ADD CONSTRAINT private_key_certificate_organisation_id_key_id_fkey FOREIGN KEY (organisation_id, key_id) REFERENCES public.private_key(organisation_id, key_id);

ALTER TABLE ONLY public.private_key
    ADD CONSTRAINT private_key_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES public.organisation(organisation_id);
