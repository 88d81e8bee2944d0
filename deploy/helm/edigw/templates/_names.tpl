{{- define "edigw.name" -}}
{{- if contains "edigw" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-edigw" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "edigw.selector" -}}
app.kubernetes.io/name: edigw
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "edigw.labels" -}}
{{ include "edigw.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "edigw.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default (printf "%s-%s" .Chart.AppVersion .Values.database.mode) }}
{{- end }}

{{- /* The pod, the same for both kinds of workload. */ -}}
{{- define "edigw.pod" -}}
metadata:
  labels:
    {{- include "edigw.labels" . | nindent 4 }}
  annotations:
    checksum/settings: {{ toYaml .Values.settings | sha256sum }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ add .Values.stopSeconds 60 }}
  {{- with .Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  {{- /* OnRootMismatch: PostgreSQL refuses a data folder that its group may write. */}}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: RuntimeDefault}
  containers:
    - name: edigw
      image: {{ include "edigw.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [serve]
      ports:
        - {name: ingress, containerPort: 8080}
        - {name: operations, containerPort: 8081}
      env:
        - {name: GOMEMLIMIT, value: {{ .Values.goMemLimit | quote }}}
        - {name: EDIGW_CONFIG, value: /etc/edigw/edigw.yaml}
        - {name: EDIGW_STOP_TIMEOUT, value: "{{ .Values.stopSeconds }}s"}
        - {name: EDIGW_SPOOL_DIR, value: /tmp}
        {{- if eq .Values.database.mode "external" }}
        - {name: EDIGW_DATABASE_URL_FILE, value: /run/secrets/edigw/database_url}
        {{- end }}
        {{- range $setting, $_ := .Values.secrets }}
        - {name: "EDIGW_{{ upper $setting }}_FILE", value: "/run/secrets/edigw/{{ $setting }}"}
        {{- end }}
        {{- if .Values.tls.secret }}
        - {name: EDIGW_TLS_CERT, value: /run/secrets/tls/tls.crt}
        - {name: EDIGW_TLS_KEY, value: /run/secrets/tls/tls.key}
        {{- end }}
      {{- /* An embedded database recovers for as long as it takes: to end it in the middle makes the next start longer. */}}
      startupProbe:
        httpGet: {path: /livez, port: operations}
        periodSeconds: 5
        failureThreshold: 720
      livenessProbe:
        httpGet: {path: /livez, port: operations}
        periodSeconds: 20
        timeoutSeconds: 5
        failureThreshold: 3
      readinessProbe:
        httpGet: {path: /readyz, port: operations}
        periodSeconds: 5
        timeoutSeconds: 6
        failureThreshold: 2
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        - {name: data, mountPath: /var/lib/edigw}
        - {name: spool, mountPath: /tmp}
        - {name: settings, mountPath: /etc/edigw, readOnly: true}
        {{- if or .Values.secrets (eq .Values.database.mode "external") }}
        - {name: secrets, mountPath: /run/secrets/edigw, readOnly: true}
        {{- end }}
        {{- if .Values.tls.secret }}
        - {name: tls, mountPath: /run/secrets/tls, readOnly: true}
        {{- end }}
  volumes:
    {{- if eq .Values.database.mode "external" }}
    - name: data
      emptyDir: {sizeLimit: 64Mi}
    {{- end }}
    - name: spool
      emptyDir: {sizeLimit: {{ .Values.spool.size }}}
    - name: settings
      configMap: {name: {{ include "edigw.name" . }}}
    {{- if or .Values.secrets (eq .Values.database.mode "external") }}
    - name: secrets
      projected:
        defaultMode: 0440
        sources:
          {{- if eq .Values.database.mode "external" }}
          - secret:
              name: {{ .Values.database.secret.name }}
              items: [{key: {{ .Values.database.secret.key }}, path: database_url}]
          {{- end }}
          {{- range $setting, $at := .Values.secrets }}
          - secret:
              name: {{ $at.name }}
              items: [{key: {{ $at.key }}, path: {{ $setting }}}]
          {{- end }}
    {{- end }}
    {{- if .Values.tls.secret }}
    - name: tls
      secret: {secretName: {{ .Values.tls.secret }}, defaultMode: 0440}
    {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- else }}
  {{- if eq .Values.database.mode "external" }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "edigw.selector" . | nindent 10 }}
  {{- end }}
  {{- end }}
{{- end }}
